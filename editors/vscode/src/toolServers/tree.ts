// `ToolServerTree` is the view of tool servers: each with its command, its origin, its sandbox and its tools.

import * as vscode from "vscode";
import type { ToolInfo, ToolServerInfo } from "../protocol/messages";
import { label, escapeLines } from "../text";
import type { ToolServers } from "./servers";
import { commandLines, contextOf, iconOf, sandboxOf, sourceOf, stateOf } from "./labels";

export interface ServerNode {
    readonly server: ToolServerInfo;
}
type Node = ServerNode | { readonly line: vscode.TreeItem } | { readonly tool: ToolInfo; readonly of: string } | { readonly tools: ToolServerInfo };

export class ToolServerTree implements vscode.TreeDataProvider<Node>, vscode.Disposable {
    private readonly changed = new vscode.EventEmitter<undefined>();
    readonly onDidChangeTreeData = this.changed.event;
    private readonly subscription: { dispose(): void };

    constructor(private readonly servers: ToolServers) {
        this.subscription = servers.onDidChange(() => this.changed.fire(undefined));
    }

    dispose(): void {
        this.subscription.dispose();
        this.changed.dispose();
    }

    getChildren(node?: Node): Node[] {
        if (!node) return this.servers.all().map((server) => ({ server }));
        if ("server" in node) return childrenOf(node.server);
        if ("tools" in node) return (node.tools.tools ?? []).map((tool) => ({ tool, of: node.tools.name }));
        return [];
    }

    getTreeItem(node: Node): vscode.TreeItem {
        if ("server" in node) return serverItem(node.server);
        if ("tools" in node) return toolsItem(node.tools);
        return "tool" in node ? toolItem(node.tool, node.of) : node.line;
    }
}

const place = (file: string) => vscode.workspace.asRelativePath(file);

function serverItem(server: ToolServerInfo): vscode.TreeItem {
    const { name, state, error } = server;
    const open = state === "pending" || state === "failed";
    const item = new vscode.TreeItem(
        label(name),
        open ? vscode.TreeItemCollapsibleState.Expanded : vscode.TreeItemCollapsibleState.Collapsed,
    );
    // Unfolds by itself when there is something to decide.
    item.id = `${name} ${open ? state : ""}`;
    item.description = `${stateOf(server)} · ${sourceOf(server, place)}`;
    item.iconPath = new vscode.ThemeIcon(
        iconOf(server),
        state === "running" ? new vscode.ThemeColor("testing.iconPassed") : state === "failed" ? new vscode.ThemeColor("errorForeground") : undefined,
    );
    item.contextValue = contextOf(server);
    item.tooltip = error === undefined ? item.description : escapeLines(error);
    item.accessibilityInformation = { label: `tool server ${name}, ${item.description}` };
    return item;
}

function childrenOf(server: ToolServerInfo): Node[] {
    const { error, file, tools, sandboxNotices } = server;
    const line = (text: string, icon: string, more: Partial<vscode.TreeItem> = {}): Node => ({
        line: Object.assign(new vscode.TreeItem(label(text, 300)), { iconPath: new vscode.ThemeIcon(icon), tooltip: escapeLines(text) }, more),
    });
    const sandbox = sandboxOf(server);
    return [
        ...(error === undefined ? [] : [line(error.split("\n")[0] ?? "", "error", { tooltip: escapeLines(error) })]),
        ...(server.authorization === "granted" ? [line("you are logged in", "key")] : []),
        ...commandLines(server).map((text) => line(text, "terminal")),
        ...(sandbox === undefined ? [] : [line(sandbox, server.sandbox === "none" ? "unlock" : "lock")]),
        ...(sandboxNotices ?? []).map((notice) => line(notice, "info")),
        ...(file === undefined
            ? []
            : [line(`named by ${place(file)}`, "file", { command: { title: "Open", command: "vscode.open", arguments: [vscode.Uri.file(file)] } })]),
        ...(tools && tools.length > 0 ? [{ tools: server }] : []),
    ];
}

function toolsItem({ name, tools }: ToolServerInfo): vscode.TreeItem {
    const item = new vscode.TreeItem("tools", vscode.TreeItemCollapsibleState.Collapsed);
    item.id = `${name} tools`;
    item.description = String(tools?.length ?? 0);
    item.iconPath = new vscode.ThemeIcon("tools");
    return item;
}

function toolItem({ name, hints }: ToolInfo, server: string): vscode.TreeItem {
    const item = new vscode.TreeItem(label(name));
    item.id = `${server} tool ${name}`;
    item.description = hints.title === undefined ? undefined : label(hints.title);
    item.tooltip = hints.description === undefined ? undefined : escapeLines(hints.description);
    item.iconPath = new vscode.ThemeIcon("symbol-method");
    return item;
}
