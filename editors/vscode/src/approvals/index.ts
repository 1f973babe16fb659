// `approvals` registers everything about what waits for the user in the editor, calls and questions of tool servers: the
// view and the editor tab where it is answered, its number in the status bar, and a mark at each line whose call waits.

import * as vscode from "vscode";
import type { Cellgate } from "../cellgate";
import { CodeDocuments } from "./code";
import { Marks } from "./marks";
import { pageLoader } from "./pageLoader";
import { ApprovalsPanel } from "./panel";
import { revealOnArrival } from "./reveal";
import { SourceTracker } from "./sourceTracker";
import { ApprovalsView } from "./view";
import { viewHost } from "./viewHost";
import { WaitingStatus } from "./waitingStatus";

const viewId = "cellgate.approvals";
/** The page keeps what the user chose and typed while it is hidden. */
const retainContextWhenHidden = true;

export function approvals(cellgate: Cellgate): vscode.Disposable {
    const { extension, waiting, sidecar, executions } = cellgate;
    const marks = new Marks(extension.extensionUri);
    const codeDocuments = new CodeDocuments(executions);
    const status = new WaitingStatus(viewId);
    const sources = new SourceTracker(cellgate, waiting);
    const loadPage = pageLoader(extension.extensionPath, viewHost(cellgate, sources, codeDocuments));
    const view = new ApprovalsView(waiting, loadPage);
    const panel = new ApprovalsPanel(() => createPanel(extension.extensionUri), loadPage);

    function show(): void {
        marks.show(sources.all());
        status.show(waiting);
    }

    function refreshPages(): void {
        view.refresh();
        panel.refresh();
    }

    return vscode.Disposable.from(
        marks,
        codeDocuments,
        status,
        view,
        panel,
        vscode.window.registerWebviewViewProvider(viewId, view, { webviewOptions: { retainContextWhenHidden } }),
        vscode.commands.registerCommand("cellgate.openApprovals", () => panel.show()),
        waiting.onDidChange(() => {
            sources.hasMoved();
            show();
        }),
        revealOnArrival(viewId, waiting, view, panel),
        sidecar.onDidChangeState(refreshPages),
        vscode.window.onDidChangeVisibleTextEditors(() => {
            show();
            if (sources.hasMoved()) refreshPages();
        }),
        vscode.workspace.onDidChangeTextDocument(({ document }) => {
            if (!sources.concerns(document)) return;
            // After the other listeners of this event, which move the anchors.
            setImmediate(() => {
                if (!sources.hasMoved()) return;
                show();
                refreshPages();
            });
        }),
    );
}

function createPanel(folder: vscode.Uri): vscode.WebviewPanel {
    const panel = vscode.window.createWebviewPanel("cellgate.approvalsEditor", "Approvals", vscode.ViewColumn.Active, { retainContextWhenHidden });
    panel.iconPath = vscode.Uri.joinPath(folder, "media", "waiting.svg");
    return panel;
}
