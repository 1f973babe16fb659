// `showWithScripts` shows HTML or SVG of a cell with its scripts, when the user asks for that, in a panel separate from
// the notebook and the extension. The panel has no scripts of the extension and receives no messages; the output is in
// a frame with an opaque origin. The policy of both refuses all requests, and neither can be navigated. No browser
// policy covers WebRTC and preconnections (`<link rel="preconnect">`): the dialog says so before.

import * as vscode from "vscode";
import type { OutputRecord } from "../protocol/messages";
import { ask } from "../notices";
import { dataOf } from "./journal";

const policy = [
    "default-src 'none'",
    "script-src 'unsafe-inline' 'unsafe-eval' blob: data:",
    "style-src 'unsafe-inline' data:",
    "img-src data: blob:",
    "font-src data:",
    "media-src data: blob:",
].join("; ");

export async function showWithScripts(record: OutputRecord): Promise<void> {
    const { output, files } = record;
    const types = [...Object.keys(output && "data" in output ? output.data : {}), ...(files ?? []).map(({ mime }) => mime)];
    const mime = ["text/html", "image/svg+xml"].find((each) => types.includes(each));
    if (mime === undefined) return;
    const run = "Run Scripts";
    const detail =
        "Its scripts see nothing of yours, and what they request is refused. But they can tell another machine what the " +
        "output holds, by ways that the editor cannot close (WebRTC, connections opened ahead), and you are not asked then.";
    if ((await ask("Run the scripts of this output?", detail, run)) !== run) return;
    const content = (await dataOf(record, mime)).toString();
    const panel = vscode.window.createWebviewPanel("cellgate.scripts", "Output, running scripts", vscode.ViewColumn.Active, {
        enableScripts: true,
        localResourceRoots: [],
        enableCommandUris: false,
    });
    panel.webview.html = `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${policy}">
<style>html, body, iframe { margin: 0; padding: 0; border: 0; width: 100%; height: 100%; background: #fff; }</style></head>
<body><iframe title="Output of code" sandbox="allow-scripts" srcdoc="${quoted(content)}"></iframe></body></html>`;
}

function quoted(text: string): string {
    return text.replaceAll("&", "&amp;").replaceAll('"', "&quot;");
}
