// `serverCommands` registers the commands on tool servers. A row of the view or another command names the server;
// otherwise the user picks it.

import * as vscode from "vscode";
import type { Cellgate } from "../cellgate";
import { kindOf } from "../client/errors";
import { inform, showError, showProgress } from "../notices";
import { openSetting } from "../openSetting";
import type { ToolServerInfo, WrapperLanguage } from "../protocol/messages";
import { label } from "../text";
import { generateWrappers, type WantedWrappers } from "./generate";
import { sourceOf, stateOf } from "./labels";
import { offerLogin } from "./loginDialogs";
import type { Logins } from "./logins";
import { ServerLogs } from "./logs";
import { saveTool } from "./saveTool";
import type { ToolServers } from "./servers";

interface ServerCommand {
    /** Of the pick. */
    readonly title: string;
    readonly run: (server: string, language?: WrapperLanguage) => Promise<unknown>;
    /** Those that it is for. Default: all. */
    readonly among?: (server: ToolServerInfo) => boolean;
    /** Where there are none of them. */
    readonly none?: string;
}

export function serverCommands(cellgate: Cellgate, servers: ToolServers, logins: Logins, refresh: () => void): vscode.Disposable {
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
            run: (server, language) => generateWrappers(cellgate, server, language).finally(refresh),
        },
        logInToToolServer: {
            title: "Log in to which tool server?",
            run: (server) => logins.logIn(server).finally(refresh),
            among: ({ authorization }) => authorization !== undefined,
            none: "No configured tool server has a URL, so none needs a login.",
        },
        logOutOfToolServer: {
            title: "Log out of which tool server?",
            run: (server) => logins.logOut(server).finally(refresh),
            among: ({ authorization }) => authorization === "granted",
            none: "You are logged in to no tool server.",
        },
        showToolServerLog: { title: "Show the log of which tool server?", run: (server) => logs.show(server) },
    };
    const others: Record<string, () => Promise<void>> = {
        refreshToolServers: () => servers.refresh(),
        saveTool: () => saveTool(cellgate).finally(refresh),
        async configureToolServers() {
            await openSetting("cellgate.mcpServers");
        },
    };
    const register = (name: string, action: (of?: WantedWrappers) => Promise<void>) =>
        vscode.commands.registerCommand(`cellgate.${name}`, (of?: WantedWrappers) => action(of).catch(showError));
    return vscode.Disposable.from(
        logs,
        ...Object.entries(onServer).map(([name, command]) =>
            register(name, async ({ server: named, language } = {}) => {
                const server = named?.name ?? (await pickServer(servers, command));
                if (server !== undefined) await withLogin(logins, server, () => command.run(server, language));
            }),
        ),
        ...Object.entries(others).map(([name, action]) => register(name, action)),
    );
}

/** What fails for want of a login is done after one. */
async function withLogin(logins: Logins, server: string, run: () => Promise<unknown>): Promise<void> {
    try {
        await run();
    } catch (error) {
        if (kindOf(error) !== "loginRequired") throw error;
        if ((await offerLogin(error)) && (await logins.logIn(server))) await run();
    }
}

async function pickServer(servers: ToolServers, { title, among = () => true, none = "There is no tool server here." }: ServerCommand): Promise<string | undefined> {
    await servers.refresh();
    const candidates = servers.all().filter(among);
    if (candidates.length === 0) {
        void inform(none);
        return undefined;
    }
    const items = candidates.map((server) => ({
        label: label(server.name),
        description: `${stateOf(server)}, ${sourceOf(server, (file) => vscode.workspace.asRelativePath(file))}`,
        name: server.name,
    }));
    return (await vscode.window.showQuickPick(items, { title }))?.name;
}
