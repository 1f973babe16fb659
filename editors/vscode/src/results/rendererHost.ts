// What the renderer asks for: a link that was clicked, a line of a traceback, large data, all of an output, and HTML
// with its scripts. A request names an output; what it means is looked up in the journal.

import * as vscode from "vscode";
import type { Cellgate } from "../cellgate";
import { textOf as wordsOf } from "../client/errors";
import { fail, warn } from "../notices";
import { label } from "../text";
import { documentUri } from "../uris";
import { dataOf, recordOf } from "./journal";
import { reveal } from "./links";
import { rendererId, type LargeAnswer, type RendererRequest } from "./messages";
import type { OutputPages } from "./pages";
import { showWithScripts } from "./scripts";

const mostBytes = 64 << 20;

export function rendererHost(cellgate: Cellgate, pages: OutputPages): vscode.Disposable {
    const { executions } = cellgate;
    const messaging = vscode.notebooks.createRendererMessaging(rendererId);

    async function answer(editor: vscode.NotebookEditor, request: RendererRequest): Promise<void> {
        switch (request.kind) {
            case "openLink": {
                const uri = vscode.Uri.parse(request.href, true);
                // Other schemes make programs do things. The editor asks about hosts that are not trusted.
                if (["http", "https", "mailto"].includes(uri.scheme)) await vscode.env.openExternal(uri);
                else void warn(`cellgate opens no links of this kind: ${label(request.href)}`);
                return;
            }
            case "openFrame": {
                const execution = executions.get(request.executionId);
                const frame = execution?.result?.error?.frames[request.index];
                if (execution && frame?.uri !== undefined) await openFrame(cellgate, execution, { ...frame, uri: frame.uri });
                return;
            }
            case "showAll":
                return pages.show(request.executionId);
            case "runScripts":
                return showWithScripts(await recordOf(executions, request.executionId, request.seq));
            case "large":
                await messaging.postMessage(await largeAnswer(request), editor);
        }
    }

    async function largeAnswer({ executionId, seq, mime }: RendererRequest & { kind: "large" }): Promise<LargeAnswer> {
        try {
            const data = await dataOf(await recordOf(executions, executionId, seq), mime);
            if (data.length > mostBytes) throw new Error(`it has ${data.length} bytes, and at most ${mostBytes} are shown`);
            return { kind: "large", executionId, seq, mime, base64: data.toString("base64") };
        } catch (error) {
            return { kind: "large", executionId, seq, mime, problem: wordsOf(error) };
        }
    }

    return messaging.onDidReceiveMessage(({ editor, message }) => {
        answer(editor, message as RendererRequest).catch((error: unknown) => {
            void fail(`cellgate: ${wordsOf(error)}`);
        });
    });
}

async function openFrame(
    cellgate: Cellgate,
    execution: Parameters<typeof reveal>[1],
    { uri, line }: { uri: string; line: number },
): Promise<void> {
    const { cell } = execution;
    if (cell?.uri === uri) {
        await reveal(cellgate, execution, line - cell.line);
        return;
    }
    const editor = await vscode.window.showTextDocument(documentUri(uri), { viewColumn: vscode.ViewColumn.One });
    const start = new vscode.Position(Math.min(line, editor.document.lineCount - 1), 0);
    editor.selection = new vscode.Selection(start, start);
    editor.revealRange(new vscode.Range(start, start), vscode.TextEditorRevealType.InCenterIfOutsideViewport);
}
