// The view of the variables of the session that the edited document's cells run in. They are asked for when the kernel
// has come to rest, and only while somebody looks.

import * as vscode from "vscode";
import type { Cellgate } from "../cellgate";
import type { KernelVariable } from "../protocol/messages";
import { label } from "../text";
import { idleSession, unlessBusy } from "./live";

export class Variables implements vscode.TreeDataProvider<KernelVariable>, vscode.Disposable {
    private readonly changed = new vscode.EventEmitter<undefined>();
    readonly onDidChangeTreeData = this.changed.event;
    private readonly subscriptions: vscode.Disposable;
    private readonly view: vscode.TreeView<KernelVariable>;
    private uri = vscode.window.activeTextEditor?.document.uri.toString();
    private shown: KernelVariable[] = [];

    constructor(private readonly cellgate: Cellgate) {
        this.view = vscode.window.createTreeView("cellgate.variables", { treeDataProvider: this });
        const refresh = () => this.changed.fire(undefined);
        this.subscriptions = vscode.Disposable.from(
            this.view,
            cellgate.sessions.onDidChange(refresh),
            cellgate.documents.onDidChange(refresh),
            vscode.window.onDidChangeActiveTextEditor((editor) => {
                // A view or a result that is looked at has no variables of its own.
                if (editor?.document.languageId !== "python") return;
                this.uri = editor.document.uri.toString();
                refresh();
            }),
        );
    }

    dispose(): void {
        this.subscriptions.dispose();
        this.changed.dispose();
    }

    async getChildren(variable?: KernelVariable): Promise<KernelVariable[]> {
        if (variable || this.uri === undefined) return [];
        const { documents, sessions, sidecar } = this.cellgate;
        const sessionId = documents.sessionOf(this.uri);
        this.view.description = sessions.get(sessionId) && label(sessionId, 60);
        if (!sessions.get(sessionId)) return (this.shown = []);
        // While something runs, what was there before it is as good as it gets.
        if (!idleSession(this.cellgate, this.uri)) return this.shown;
        const answer = await unlessBusy(sidecar.request("kernel/variables", { sessionId }));
        this.view.message = answer?.truncated ? "There are more; these are the first." : undefined;
        return (this.shown = answer?.variables ?? this.shown);
    }

    getTreeItem({ name, type, value, size }: KernelVariable): vscode.TreeItem {
        const item = new vscode.TreeItem(label(name));
        item.description = `${label(type, 60)}${size === undefined ? "" : ` ${label(size, 60)}`}  ${label(value)}`;
        item.tooltip = `${name}: ${type}${size === undefined ? "" : ` ${size}`}\n${value}`;
        item.iconPath = new vscode.ThemeIcon("symbol-variable");
        item.accessibilityInformation = { label: `${name}, ${type}, ${value}` };
        return item;
    }
}
