// `pageLoader` loads the approvals page into a webview, of the side bar or of an editor tab, and connects it. The page
// consists of the extension's own files, runs its one script by a nonce, and can load nothing. Script and style are
// inline: on a busy machine the editor can lose a page's request for a file, and the page would stay empty while a call
// waits.

import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import path from "node:path";
import type * as vscode from "vscode";
import type { FromPage, PageHost } from "./messages";
import { PageConnection } from "./pageConnection";
import type { ViewHost } from "./viewHost";

/** A webview view or a webview panel. */
export type PageContainer = Pick<vscode.WebviewView | vscode.WebviewPanel, "webview" | "visible" | "onDidDispose">;

/** Connects a page for as long as its container exists. */
export type PageLoader = (container: PageContainer, kind: PageHost) => PageConnection;

export function pageLoader(extensionPath: string, host: ViewHost): PageLoader {
    const read = (...parts: string[]) => readFileSync(path.join(extensionPath, ...parts), "utf8");
    return (container, kind) => {
        const { webview } = container;
        const connection = new PageConnection(host, {
            get visible() {
                return container.visible;
            },
            post: (message) => void webview.postMessage(message),
        });
        webview.options = { enableScripts: true, localResourceRoots: [] };
        webview.onDidReceiveMessage((message: FromPage) => void connection.take(message));
        container.onDidDispose(() => connection.dispose());
        webview.html = pageHtml(read("dist", "approvals.js"), read("media", "approvals.css"), kind);
        return connection;
    };
}

export function pageHtml(script: string, style: string, kind: PageHost): string {
    const nonce = randomBytes(16).toString("hex");
    const policy = `default-src 'none'; style-src 'nonce-${nonce}'; script-src 'nonce-${nonce}'`;
    return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<style nonce="${nonce}">${style}</style>
<title>Approvals</title>
</head>
<body data-host="${kind}">
<script nonce="${nonce}">${script.replaceAll("</script", "<\\/script")}</script>
</body>
</html>`;
}
