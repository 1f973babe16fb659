// `rendererHost` answers the renderer's requests: a clicked link, a line of a traceback, large data, a whole output, HTML
// with its scripts, and the remedy of a note. A request names an output; its content is looked up in the journal.

import * as vscode from "vscode";
import type { Cellgate } from "../cellgate";
import { textOf } from "../client/errors";
import { ask, fail, inform, warn } from "../notices";
import { packageInstalls } from "../packages/dialogs";
import { label } from "../text";
import { generateImported } from "../toolServers/generate";
import { documentUri } from "../uris";
import { dataOf, recordOf } from "./journal";
import { reveal } from "./reveal";
import { rendererId, type LargeAnswer, type RendererRequest } from "./messages";
import { NoteRemedies, type RemedyDialogs } from "./noteRemedies";
import type { OutputPages } from "./pages";
import { showWithScripts } from "./scripts";

const maxBytes = 64 << 20;

export function rendererHost(cellgate: Cellgate, pages: OutputPages): vscode.Disposable {
    const { executions } = cellgate;
    const messaging = vscode.notebooks.createRendererMessaging(rendererId);
    const dialogs: RemedyDialogs = {
        confirm: async ({ question, detail, action }) => (await ask(question, detail, action)) === action,
        report: (message) => void inform(`cellgate: ${message}`),
    };
    const remedies = new NoteRemedies(cellgate, dialogs, packageInstalls(cellgate), (code) => generateImported(cellgate, code));

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
            case "applyRemedy":
                // The view of rules is not notified of new rules.
                if (await remedies.apply(request.executionId, request.index)) await vscode.commands.executeCommand("cellgate.refreshRules");
                return;
            case "large":
                await messaging.postMessage(await largeAnswer(request), editor);
        }
    }

    async function largeAnswer({ executionId, seq, mime }: RendererRequest & { kind: "large" }): Promise<LargeAnswer> {
        try {
            const data = await dataOf(await recordOf(executions, executionId, seq), mime);
            if (data.length > maxBytes) throw new Error(`it has ${data.length} bytes, and at most ${maxBytes} are shown`);
            return { kind: "large", executionId, seq, mime, base64: data.toString("base64") };
        } catch (error) {
            return { kind: "large", executionId, seq, mime, problem: textOf(error) };
        }
    }

    return messaging.onDidReceiveMessage(({ editor, message }) => {
        answer(editor, message as RendererRequest).catch((error: unknown) => {
            void fail(`cellgate: ${textOf(error)}`);
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
