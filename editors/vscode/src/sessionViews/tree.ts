// `SessionTree` is the view of sessions: each with what it uses, its running execution and its queue.

import * as vscode from "vscode";
import type { Cellgate } from "../cellgate";
import { stateOf } from "../cells/states";
import type { Execution } from "../executions";
import type { Session } from "../sessions";
import { label } from "../text";
import { placeOf } from "./cellOf";
import { Figures } from "./figures";
import { iconOf, ownerOf, statusOf, weaknessOf } from "./labels";

/** A session is what its commands are given; of an execution they need no more than itself. */
type Node = Session | { execution: Execution } | FiguresNode;

interface FiguresNode {
    figuresOf: string;
}

const figuresMilliseconds = 2000;

export class SessionTree implements vscode.TreeDataProvider<Node>, vscode.Disposable {
    private readonly changed = new vscode.EventEmitter<Node | undefined>();
    readonly onDidChangeTreeData = this.changed.event;
    readonly view: vscode.TreeView<Node>;
    private readonly figures = new Figures();
    /** By session. A row keeps its node, so that it can change without the others: that would close an open menu. */
    private figuresNodes = new Map<string, FiguresNode>();
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
        if ("execution" in node || "figuresOf" in node) return [];
        const figures = this.figuresNodes.get(node.sessionId);
        const executions = this.cellgate.executions.unfinished(node.sessionId).map((execution) => ({ execution }));
        return figures ? [figures, ...executions] : executions;
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
            again();
            return;
        }
        sidecar.request("stats", {}).then((stats) => {
            this.figures.add(stats, performance.now() / 1000);
            this.showFigures();
            again();
        }, () => undefined); // the next connection looks
    }

    private showFigures(): void {
        const before = this.figuresNodes;
        const ids = this.figures.sessionIds();
        this.figuresNodes = new Map(ids.map((id) => [id, before.get(id) ?? { figuresOf: id }]));
        if (ids.length !== before.size || ids.some((id) => !before.has(id))) this.changed.fire(undefined);
        else for (const node of before.values()) this.changed.fire(node);
    }

    getTreeItem(node: Node): vscode.TreeItem | Promise<vscode.TreeItem> {
        if ("execution" in node) return this.executionItem(node.execution);
        if ("figuresOf" in node) return figuresItem(node.figuresOf, this.figures.of(node.figuresOf));
        return sessionItem(node, this.cellgate.executions.unfinished(node.sessionId).some(queued));
    }

    private async executionItem(execution: Execution): Promise<vscode.TreeItem> {
        // The code of a removed execution is not available; its row is removed soon too.
        await this.cellgate.executions.codeOf(execution).catch(() => undefined);
        return executionItem(execution);
    }
}

function figuresItem(sessionId: string, { short, long }: { short: string; long: string }): vscode.TreeItem {
    const item = new vscode.TreeItem("");
    item.id = `figures ${sessionId}`;
    item.description = short;
    item.iconPath = new vscode.ThemeIcon("pulse");
    item.tooltip = `Its processes use ${long}. Every two seconds.`;
    item.accessibilityInformation = { label: `uses ${long}` };
    return item;
}

const queued = ({ state }: Execution) => state === "queued";

function sessionItem(session: Session, hasWaiting: boolean): vscode.TreeItem {
    const item = new vscode.TreeItem(label(session.sessionId), vscode.TreeItemCollapsibleState.Expanded);
    item.id = session.sessionId;
    item.description = [ownerOf(session), statusOf(session), weaknessOf(session)?.short].filter(Boolean).join(" · ");
    item.iconPath = new vscode.ThemeIcon(iconOf(session));
    item.contextValue = hasWaiting ? "sessionThatWaits" : "session";
    item.tooltip = [
        `${label(session.kernel.name)} ${label(session.kernel.version ?? "")} in ${label(session.cwd)}`,
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
    item.tooltip = label(stateOf(execution, Date.now()).replace(/\$\([^)]*\) /, ""));
    return item;
}
