// `SessionTree` is the view of sessions: each with its running execution and its queue, and above them what they use.

import * as vscode from "vscode";
import type { Cellgate } from "../cellgate";
import { stateOf, wholeProgress } from "../cells/states";
import type { Execution } from "../executions";
import type { Session } from "../sessions";
import { label } from "../text";
import { placeOf } from "./cellOf";
import { Figures } from "./figures";
import { iconOf, ownerOf, statusOf, weaknessOf } from "./labels";

/** A session is what its commands are given; of an execution they need no more than itself. */
type Node = Session | { execution: Execution };

const figuresMilliseconds = 2000;

export class SessionTree implements vscode.TreeDataProvider<Node>, vscode.Disposable {
    private readonly changed = new vscode.EventEmitter<undefined>();
    readonly onDidChangeTreeData = this.changed.event;
    readonly view: vscode.TreeView<Node>;
    private readonly figures = new Figures();
    private timer: NodeJS.Timeout | undefined;
    private readonly subscriptions: vscode.Disposable;

    constructor(private readonly cellgate: Cellgate) {
        this.view = vscode.window.createTreeView("cellgate.sessions", { treeDataProvider: this });
        this.subscriptions = vscode.Disposable.from(
            cellgate.sessions.onDidChange(() => this.changed.fire(undefined)),
            cellgate.executions.onDidChange(() => this.changed.fire(undefined)),
            this.view.onDidChangeVisibility(() => this.look()),
            cellgate.sidecar.onDidConnect(() => this.look()),
        );
    }

    dispose(): void {
        clearTimeout(this.timer);
        this.subscriptions.dispose();
        this.changed.dispose();
    }

    getChildren(node?: Node): Node[] {
        if (!node) return this.cellgate.sessions.all();
        if ("execution" in node) return [];
        return this.cellgate.executions.unfinished(node.sessionId).map((execution) => ({ execution }));
    }

    /** At what the sessions use, again and again while the view is seen and there are any. */
    private look(): void {
        clearTimeout(this.timer);
        const { sidecar, sessions } = this.cellgate;
        if (!this.view.visible) return;
        const again = () => {
            this.timer = setTimeout(() => this.look(), figuresMilliseconds);
        };
        if (sessions.all().length === 0) {
            this.view.message = undefined;
            again();
            return;
        }
        sidecar.request("stats", {}).then((stats) => {
            this.figures.add(stats, performance.now() / 1000);
            // Rows that change would close an open menu.
            this.view.message = this.figures.text();
            again();
        }, () => undefined); // the next connection looks
    }

    getTreeItem(node: Node): vscode.TreeItem | Promise<vscode.TreeItem> {
        if ("execution" in node) return this.executionItem(node.execution);
        return sessionItem(node, this.cellgate.executions.unfinished(node.sessionId).some(queued));
    }

    private async executionItem(execution: Execution): Promise<vscode.TreeItem> {
        // The code of a removed execution is not available; its row is removed soon too.
        await this.cellgate.executions.codeOf(execution).catch(() => undefined);
        return executionItem(execution);
    }
}

const queued = ({ state }: Execution) => state === "queued";

function placeOfKernel({ kernel: { server, connectionFile }, cwd }: Session): string {
    if (server !== undefined) return `on ${label(server)}`;
    return connectionFile === undefined ? `in ${label(cwd)}` : `of ${label(connectionFile)}`;
}

function sessionItem(session: Session, hasWaiting: boolean): vscode.TreeItem {
    const item = new vscode.TreeItem(label(session.sessionId), vscode.TreeItemCollapsibleState.Expanded);
    item.id = session.sessionId;
    item.description = [weaknessOf(session)?.short, ownerOf(session), statusOf(session)].filter(Boolean).join(" · ");
    item.iconPath = new vscode.ThemeIcon(iconOf(session));
    item.contextValue = hasWaiting ? "sessionThatWaits" : "session";
    item.tooltip = [
        `${label(session.kernel.name)} ${label(session.kernel.version ?? "")} ${placeOfKernel(session)}`,
        session.layers.join(", "),
        ...(session.sandboxNotices ?? []).map((notice) => label(notice, 300)),
    ].join("\n");
    item.command = { title: "Show Results", command: "cellgate.showResults", arguments: [session] };
    item.accessibilityInformation = { label: `session ${session.sessionId}, ${item.description}` };
    return item;
}

function executionItem(execution: Execution): vscode.TreeItem {
    const { cell, code, agent, state } = execution;
    const place = cell && placeOf(cell);
    const first = code?.split("\n").find((line) => line.trim() !== "");
    const item = new vscode.TreeItem(label(first ?? place ?? "code", 80));
    item.id = execution.id;
    item.description = [place, agent && `agent ${label(agent, 60)}`].filter(Boolean).join(" · ");
    item.iconPath = new vscode.ThemeIcon(state === "running" ? "sync~spin" : "watch");
    item.contextValue = state === "running" ? "runningExecution" : "queuedExecution";
    item.command = cell
        ? { title: "Go to Cell", command: "cellgate.showCell", arguments: [{ execution }] }
        : { title: "Show Result", command: "cellgate.showResult", arguments: [execution.id] };
    item.tooltip = stateOf(execution, Date.now(), wholeProgress).replace(/\$\([^)]*\) /, "");
    return item;
}
