// Tool servers in the editor: those of the settings are given to cellgate, all are shown in a view, and can be started,
// restarted, and made into wrappers there.

import { randomUUID } from "node:crypto";
import * as vscode from "vscode";
import type { Cellgate } from "../cellgate";
import { NotConnected, textOf } from "../client/errors";
import { during, duringCancellable, inform, tell, warn } from "../notices";
import type { McpServerConfig, WrappersGenerateResult } from "../protocol/messages";
import { label, visibleLines } from "../text";
import { ToolServers } from "./servers";
import { ConfiguredServers } from "./settings";
import { ToolServerTree, type ServerNode } from "./tree";
import { sourceOf, stateOf } from "./words";

export function toolServers({ root, log, sidecar, pending, executions }: Cellgate): vscode.Disposable {
    const servers = new ToolServers(sidecar);
    const tree = new ToolServerTree(servers);
    const view = vscode.window.createTreeView("cellgate.toolServers", { treeDataProvider: tree });
    const configured = new ConfiguredServers(
        sidecar,
        () => vscode.workspace.getConfiguration("cellgate").get<Record<string, McpServerConfig>>("mcpServers", {}),
        (name, error) => {
            if (!(error instanceof NotConnected)) tell(new Error(`the tool server ${label(name)} of your settings: ${textOf(error)}`));
        },
    );

    /** Whoever does not look is not told; without a connection the next one tells. */
    function refresh(): void {
        if (view.visible) servers.refresh().catch((error: unknown) => log.debug(`no list of tool servers: ${textOf(error)}`));
    }

    async function named(node: ServerNode | undefined, title: string): Promise<string | undefined> {
        if (node) return node.server.name;
        await servers.refresh();
        const items = servers.all().map((server) => ({
            label: label(server.name),
            description: `${stateOf(server)}, ${sourceOf(server, (file) => vscode.workspace.asRelativePath(file))}`,
            name: server.name,
        }));
        return (await vscode.window.showQuickPick(items, { title }))?.name;
    }

    async function restart(node?: ServerNode): Promise<void> {
        const server = await named(node, "Restart which tool server?");
        if (server === undefined) return;
        await during(`cellgate: starting ${label(server)}`, () => sidecar.request("toolServers/restart", { server }).finally(refresh));
    }

    async function generate(node?: ServerNode): Promise<void> {
        const server = await named(node, "Write the wrappers of which tool server?");
        if (server === undefined) return;
        const result = await duringCancellable(`Writing the wrappers of ${label(server)}`, async (report, token) => {
            const workDoneToken = randomUUID();
            const listening = sidecar.onNotification("$/progress", (told) => {
                if (told.token === workDoneToken && told.value.message !== undefined) report(label(told.value.message));
            });
            try {
                return await sidecar.request("wrappers/generate", { server, workDoneToken }, token);
            } finally {
                listening.dispose();
                refresh();
            }
        });
        written(result);
    }

    function written({ package: name, modules, skipped }: WrappersGenerateResult): void {
        const count = modules.length === 1 ? "1 module" : `${modules.length} modules`;
        if (skipped.length === 0) {
            void inform(`${name} has ${count}. Cells import from it.`);
            return;
        }
        for (const { tool, reason } of skipped) log.warn(`${name}: ${label(tool)} is left out: ${label(reason, 1000)}`);
        const left = skipped.map(({ tool }) => label(tool, 60)).join(", ");
        void warn(`${name} has ${count}; left out: ${left}. The log says why.`, "Show Log").then((answer) => {
            if (answer) log.show();
        });
    }

    /** One of the output view for each server that was asked for, as the editor's own MCP servers have. */
    const channels = new Map<string, vscode.OutputChannel>();

    async function showLog(node?: ServerNode): Promise<void> {
        const server = await named(node, "Show the log of which tool server?");
        if (server === undefined) return;
        const { text } = await sidecar.request("toolServers/log", { server });
        const told = servers.all().find((each) => each.name === server);
        const head = told ? `${stateOf(told)}${told.error === undefined ? "" : `: ${told.error}`}` : "not configured any more";
        let channel = channels.get(server);
        if (!channel) channels.set(server, (channel = vscode.window.createOutputChannel(`cellgate: ${label(server)}`, "log")));
        channel.replace(visibleLines(`${head}\n\n${text || "It has written nothing to stderr."}`));
        channel.show(true);
    }

    const command = (name: string, deed: (node?: ServerNode) => Promise<void>) =>
        vscode.commands.registerCommand(`cellgate.${name}`, (node?: ServerNode) => deed(node).catch(tell));
    const files = vscode.workspace.createFileSystemWatcher(new vscode.RelativePattern(root, "{.mcp.json,.vscode/mcp.json}"));

    return vscode.Disposable.from(
        servers,
        tree,
        view,
        files,
        files.onDidChange(refresh),
        files.onDidCreate(refresh),
        files.onDidDelete(refresh),
        view.onDidChangeVisibility(refresh),
        { dispose: () => channels.forEach((channel) => channel.dispose()) },
        sidecar.onDidConnect(() => void configured.begin().then(refresh)),
        vscode.workspace.onDidChangeConfiguration((event) => {
            if (event.affectsConfiguration("cellgate.mcpServers")) void configured.apply().then(refresh);
        }),
        // What starts one: a yes, or the code that runs.
        pending.onDidDecide(refresh),
        executions.onDidChange(refresh),
        command("restartToolServer", restart),
        command("startToolServer", restart),
        command("generateWrappers", generate),
        command("showToolServerLog", showLog),
        command("refreshToolServers", () => servers.refresh()),
        command("configureToolServers", async () => {
            await vscode.commands.executeCommand("workbench.action.openSettings", "cellgate.mcpServers");
        }),
    );
}
