// `Variables` is the view of the variables in the session of the active editor. They are requested when the
// kernel becomes idle, and only while the view is visible.

import * as vscode from "vscode";
import { active, onDidChangeActive } from "../active";
import type { Cellgate } from "../cellgate";
import type { KernelVariable } from "../protocol/messages";
import { label, plain, escapeUnprintable } from "../text";
import { undefinedIfBusy } from "./idleKernel";

export class Variables implements vscode.TreeDataProvider<KernelVariable>, vscode.Disposable {
    private readonly changed = new vscode.EventEmitter<undefined>();
    readonly onDidChangeTreeData = this.changed.event;
    private readonly subscriptions: vscode.Disposable;
    private readonly view: vscode.TreeView<KernelVariable>;
    /** Of the variables that are shown. */
    sessionId: string | undefined;
    private shown: KernelVariable[] = [];

    constructor(private readonly cellgate: Cellgate) {
        this.view = vscode.window.createTreeView("cellgate.variables", { treeDataProvider: this });
        const refresh = () => this.changed.fire(undefined);
        const look = () => {
            // What else is looked at meanwhile has no variables of its own.
            this.sessionId = active(cellgate)?.sessionId ?? this.sessionId;
            refresh();
        };
        this.subscriptions = vscode.Disposable.from(
            this.view,
            cellgate.sessions.onDidChange(refresh),
            cellgate.documents.onDidChange(look),
            onDidChangeActive(look),
        );
        look();
    }

    dispose(): void {
        this.subscriptions.dispose();
        this.changed.dispose();
    }

    async getChildren(variable?: KernelVariable): Promise<KernelVariable[]> {
        const { sessionId } = this;
        if (variable || sessionId === undefined) return [];
        const { sessions, sidecar } = this.cellgate;
        this.view.description = sessions.get(sessionId) && label(sessionId, 60);
        if (!sessions.get(sessionId)) return (this.shown = []);
        // While something runs, what was there before it is as good as it gets.
        if (sessions.get(sessionId)?.status !== "idle") return this.shown;
        const answer = await undefinedIfBusy(sidecar.request("kernel/variables", { sessionId }));
        this.view.message = answer?.truncated ? "There are more; these are the first." : undefined;
        return (this.shown = answer?.variables ?? this.shown);
    }

    getTreeItem({ name, type, value, size }: KernelVariable): vscode.TreeItem {
        const item = new vscode.TreeItem(label(name));
        item.description = `${label(type, 60)}${size === undefined ? "" : ` ${label(size, 60)}`}  ${label(value)}`;
        item.tooltip = plain(`${name}: ${type}${size === undefined ? "" : ` ${size}`}\n${value}`);
        item.contextValue = "variable";
        item.iconPath = new vscode.ThemeIcon("symbol-variable");
        item.accessibilityInformation = { label: escapeUnprintable(`${name}, ${type}, ${value}`) };
        return item;
    }
}
