// `toolServers` registers everything about tool servers in the editor: those of the settings are sent to cellgate, and a
// view shows all of them, with the commands on each.

import * as vscode from "vscode";
import type { Cellgate } from "../cellgate";
import { NotConnected, textOf } from "../client/errors";
import { showError } from "../notices";
import type { McpServerConfig } from "../protocol/messages";
import { label } from "../text";
import { serverCommands } from "./commands";
import { loginDialogs, offerLogin } from "./loginDialogs";
import { LoginOffers } from "./loginOffers";
import { Logins } from "./logins";
import { ToolServers } from "./servers";
import { ConfiguredServers } from "./settings";
import { ToolServerTree } from "./tree";

export function toolServers(cellgate: Cellgate): vscode.Disposable {
    const { root, log, sidecar, waiting, executions } = cellgate;
    const servers = new ToolServers(sidecar);
    const tree = new ToolServerTree(servers);
    const view = vscode.window.createTreeView("cellgate.toolServers", { treeDataProvider: tree });
    const configured = new ConfiguredServers(
        sidecar,
        () => vscode.workspace.getConfiguration("cellgate").get<Record<string, McpServerConfig>>("mcpServers", {}),
        (name, error) => {
            if (!(error instanceof NotConnected)) showError(new Error(`the tool server ${label(name)} of your settings: ${textOf(error)}`));
        },
    );

    const logins = new Logins(sidecar, loginDialogs);
    async function offer(server: string): Promise<void> {
        if (!(await offerLogin(new Error(`the cell failed because ${label(server)} wants you to log in`)))) return;
        await logins.logIn(server).catch(showError);
        refresh();
    }

    /** Only a visible view needs the list. Without a connection, the next connection refreshes it. */
    function refresh(): void {
        if (view.visible) servers.refresh().catch((error: unknown) => log.debug(`no list of tool servers: ${textOf(error)}`));
    }

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
        sidecar.onDidConnect(() => void configured.begin().then(refresh)),
        vscode.workspace.onDidChangeConfiguration((event) => {
            if (event.affectsConfiguration("cellgate.mcpServers")) void configured.apply().then(refresh);
        }),
        // An approval, or code that runs, may start a server.
        waiting.approvals.onDidEnd(refresh),
        executions.onDidChange(refresh),
        serverCommands(cellgate, servers, logins, refresh),
        new LoginOffers(executions, () => servers.refresh().then(() => servers.all()), offer),
        sidecar.onNotification("toolServers/loginEnded", refresh),
    );
}
