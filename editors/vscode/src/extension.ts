// Where the editor enters: makes the context, and registers each part with it.

import * as vscode from "vscode";
import type { Cellgate, Part } from "./cellgate";
import { Connection } from "./client/connection";
import { findProgram } from "./client/program";
import { Sidecar } from "./client/sidecar";
import { Executions } from "./executions";
import { Sessions } from "./sessions";

const parts: Part[] = [];

export function activate(extension: vscode.ExtensionContext): void {
    const log = vscode.window.createOutputChannel("cellgate", { log: true });
    extension.subscriptions.push(log);
    try {
        start(extension, log);
    } catch (error) {
        // The editor itself tells nobody that an extension did not start.
        const reason = error instanceof Error ? error.message : String(error);
        log.error(error instanceof Error ? (error.stack ?? reason) : reason);
        void vscode.window.showErrorMessage(`cellgate did not start: ${reason}`);
    }
}

function start(extension: vscode.ExtensionContext, log: vscode.LogOutputChannel): void {
    const root = vscode.workspace.workspaceFolders?.[0]?.uri;
    // Without a folder there is nothing for a sandbox to show; commands are not offered (`workspaceFolderCount`).
    if (root?.scheme !== "file") return;

    const version = (extension.extension.packageJSON as { version: string }).version;
    const settings = () => vscode.workspace.getConfiguration("cellgate", root);
    const sidecar = new Sidecar(
        (incoming) =>
            Connection.open(
                {
                    program: findProgram(settings().get("program", ""), extension.extensionPath, process.env.PATH ?? ""),
                    arguments: ["connect", "--root", root.fsPath],
                    cwd: root.fsPath,
                },
                {
                    clientInfo: { name: vscode.env.appName, version },
                    // The relay's stdin tells the sidecar of our end.
                    processId: null,
                    rootUri: root.toString(),
                    capabilities: { approvals: true, input: true, images: "file" },
                    initializationOptions: { lingerSeconds: settings().get("lingerSeconds", 600) },
                },
                incoming,
                log,
                () => settings().get("trace", "off"),
            ),
        log,
    );
    const cellgate: Cellgate = {
        extension,
        log,
        root,
        sidecar,
        sessions: new Sessions(sidecar),
        executions: new Executions(sidecar),
    };
    extension.subscriptions.push(
        sidecar,
        cellgate.sessions,
        cellgate.executions,
        vscode.commands.registerCommand("cellgate.showLog", () => log.show()),
        vscode.commands.registerCommand("cellgate.reconnect", () => sidecar.reconnect()),
        ...parts.map((part) => part(cellgate)),
    );
    sidecar.start();
}
