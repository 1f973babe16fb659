// `record` registers the view of the workspace's record, what happened in it, and its commands.

import * as vscode from "vscode";
import type { Cellgate } from "../cellgate";
import { label } from "../text";
import { recordCommands } from "./commands";
import { EntryDocuments } from "./documents";
import { RecordEntries } from "./entries";
import { filterText } from "./labels";
import { RecordTree, type Node } from "./tree";

export function record(cellgate: Cellgate): vscode.Disposable {
    const { sidecar, waiting, sessions, executions } = cellgate;
    const entries = new RecordEntries(sidecar);
    const tree = new RecordTree(entries);
    const view: vscode.TreeView<Node> = vscode.window.createTreeView("cellgate.record", { treeDataProvider: tree });
    const documents = new EntryDocuments(sidecar);

    /** The sidecar does not notify of entries: every event that may have made one reloads them, while they are shown. */
    function refresh(): void {
        if (view.visible) void entries.load();
    }

    function showFilter(): void {
        const text = filterText(entries.filter);
        view.message = text === undefined ? undefined : label(text, 1000);
        void vscode.commands.executeCommand("setContext", "cellgate.recordFiltered", text !== undefined);
    }

    return vscode.Disposable.from(
        entries,
        tree,
        view,
        documents,
        entries.onDidChange(showFilter),
        view.onDidChangeVisibility(refresh),
        sidecar.onDidConnect(refresh),
        waiting.approvals.onDidEnd(refresh),
        sessions.onDidChange(refresh),
        executions.onDidChange(refresh),
        recordCommands(cellgate, entries, documents),
    );
}
