// Approvals in the editor: the view where they are answered, how many wait in the status bar, and a mark at each line
// whose call waits.

import * as vscode from "vscode";
import type { Cellgate } from "../cellgate";
import type { Approval } from "../protocol/messages";
import { documentName, documentUri } from "../uris";
import { CodeDocuments } from "./code";
import { Marks } from "./marks";
import { questionOf } from "./questions";
import { sourceOf, type SourceLine } from "./sources";
import { ApprovalsView, waitingText } from "./view";

const viewId = "cellgate.approvals";

export function approvals({ extension, pending, sidecar, executions, anchors }: Cellgate): vscode.Disposable {
    const marks = new Marks(extension.extensionUri);
    const codeDocuments = new CodeDocuments(executions);
    const status = vscode.window.createStatusBarItem(viewId, vscode.StatusBarAlignment.Left, 12);
    status.name = "cellgate: approvals";
    status.command = `${viewId}.focus`;
    status.backgroundColor = new vscode.ThemeColor("statusBarItem.warningBackground");

    function textAt(uri: string, line: number): string | undefined {
        const document = vscode.workspace.textDocuments.find((each) => each.uri.toString() === uri);
        return document && (line < document.lineCount ? document.lineAt(line).text : "");
    }
    const source = (approval: Approval): SourceLine | undefined => sourceOf(approval, executions, anchors, textAt);
    const placeOf = (uri: string, line: number) => `${documentName(uri)}:${line + 1}`;

    const view = new ApprovalsView({
        folder: extension.extensionUri,
        pending,
        connected: () => sidecar.state.kind === "connected",
        question(approval) {
            const execution = approval.executionId === undefined ? undefined : executions.get(approval.executionId);
            const cell = execution?.cell && `the cell at ${placeOf(execution.cell.uri, execution.cell.line)}`;
            const line = source(approval);
            return questionOf(approval, execution, cell, line && { place: placeOf(line.uri, line.line), changed: line.changed });
        },
        async schemaOf({ action }) {
            const { servers } = await sidecar.request("toolServers/list", {});
            const server = servers.find(({ name }) => name === action.server);
            return server?.tools?.find(({ name }) => name === action.tool)?.inputSchema;
        },
        async reveal(approval) {
            const line = source(approval);
            if (!line) return;
            const document = await vscode.workspace.openTextDocument(documentUri(line.uri));
            const place = new vscode.Position(Math.min(line.line, document.lineCount - 1), 0);
            await vscode.window.showTextDocument(document, { selection: new vscode.Range(place, place) });
        },
        async openCode({ executionId, origin }) {
            if (executionId !== undefined) await codeDocuments.show(executionId, origin?.line ?? 0);
        },
    });

    // Most of what is typed changes no line that calls: then nothing is told to the page, where each word is a change.
    let sources = "";
    function sourcesMoved(): boolean {
        const before = sources;
        sources = JSON.stringify(pending.all().map((approval) => source(approval) ?? null));
        return sources !== before;
    }

    function show(): void {
        const waiting = pending.all();
        marks.show(
            waiting.flatMap((approval) => {
                const line = source(approval);
                return line ? [{ approval, source: line }] : [];
            }),
        );
        const text = waitingText(waiting.length);
        status.text = `$(bell-dot) ${text}`;
        status.accessibilityInformation = { label: `cellgate: ${text}` };
        if (waiting.length > 0) status.show();
        else status.hide();
    }

    // The view comes up where it is, and takes no key away from the editor.
    let before = 0;
    function comeUp(): void {
        const begins = before === 0 && pending.all().length > 0;
        before = pending.all().length;
        const wanted = vscode.workspace.getConfiguration("cellgate").get<boolean>("showApprovals", true);
        if (begins && wanted && !view.visible) {
            void vscode.commands.executeCommand(`${viewId}.focus`, { preserveFocus: true });
        }
    }

    return vscode.Disposable.from(
        marks,
        codeDocuments,
        status,
        view,
        vscode.window.registerWebviewViewProvider(viewId, view, { webviewOptions: { retainContextWhenHidden: true } }),
        pending.onDidChange(() => {
            sourcesMoved();
            show();
            comeUp();
        }),
        sidecar.onDidChangeState(() => view.refresh()),
        vscode.window.onDidChangeVisibleTextEditors(() => {
            show();
            if (sourcesMoved()) view.refresh();
        }),
        vscode.workspace.onDidChangeTextDocument(({ document }) => {
            if (!pending.all().some(({ origin }) => origin?.uri === document.uri.toString())) return;
            // The anchors have moved by then.
            setImmediate(() => {
                if (!sourcesMoved()) return;
                show();
                view.refresh();
            });
        }),
    );
}
