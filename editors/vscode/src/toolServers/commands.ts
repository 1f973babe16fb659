// `serverCommands` registers the commands on tool servers. A row of the view names the server; otherwise the user picks it.

import * as vscode from "vscode";
import type { Cellgate } from "../cellgate";
import { showError, showProgress } from "../notices";
import { label } from "../text";
import { generateWrappers } from "./generate";
import { sourceOf, stateOf } from "./labels";
import { ServerLogs } from "./logs";
import type { ToolServers } from "./servers";
import type { ServerNode } from "./tree";

interface ServerCommand {
    /** Of the pick. */
    readonly title: string;
    readonly run: (server: string) => Promise<void>;
}

export function serverCommands(cellgate: Cellgate, servers: ToolServers, refresh: () => void): vscode.Disposable {
    const { sidecar } = cellgate;
    const logs = new ServerLogs(sidecar, servers);
    const restart: ServerCommand = {
        title: "Restart which tool server?",
        async run(server) {
            await showProgress(`cellgate: starting ${label(server)}`, () => sidecar.request("toolServers/restart", { server }).finally(refresh));
        },
    };
    const onServer: Record<string, ServerCommand> = {
        restartToolServer: restart,
        startToolServer: restart,
        generateWrappers: {
            title: "Write the wrappers of which tool server?",
            run: (server) => generateWrappers(cellgate, server).finally(refresh),
        },
        showToolServerLog: { title: "Show the log of which tool server?", run: (server) => logs.show(server) },
    };
    const others: Record<string, () => Promise<void>> = {
        refreshToolServers: () => servers.refresh(),
        async configureToolServers() {
            await vscode.commands.executeCommand("workbench.action.openSettings", "cellgate.mcpServers");
        },
    };
    const register = (name: string, action: (node?: ServerNode) => Promise<void>) =>
        vscode.commands.registerCommand(`cellgate.${name}`, (node?: ServerNode) => action(node).catch(showError));
    return vscode.Disposable.from(
        logs,
        ...Object.entries(onServer).map(([name, { title, run }]) =>
            register(name, async (node) => {
                const server = node?.server.name ?? (await pickServer(servers, title));
                if (server !== undefined) await run(server);
            }),
        ),
        ...Object.entries(others).map(([name, action]) => register(name, action)),
    );
}

async function pickServer(servers: ToolServers, title: string): Promise<string | undefined> {
    await servers.refresh();
    const items = servers.all().map((server) => ({
        label: label(server.name),
        description: `${stateOf(server)}, ${sourceOf(server, (file) => vscode.workspace.asRelativePath(file))}`,
        name: server.name,
    }));
    return (await vscode.window.showQuickPick(items, { title }))?.name;
}
