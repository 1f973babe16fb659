// `activate` is the entry point of the extension: it makes the context, and registers each part with it.

import * as vscode from "vscode";
import { agent } from "./agent";
import { approvals } from "./approvals";
import { Waiting } from "./approvals/waiting";
import type { Cellgate, Part } from "./cellgate";
import { cells } from "./cells";
import { Anchors } from "./cells/anchors";
import { changeViews } from "./changes";
import { Changes } from "./changes/changes";
import { check } from "./check";
import { Connection, type Tracing } from "./client/connection";
import { findProgram } from "./client/program";
import { Sidecar } from "./client/sidecar";
import { configFiles } from "./configFiles";
import { kernelAssist } from "./kernelAssist";
import { Documents } from "./documents";
import { Executions } from "./executions";
import { input } from "./input";
import { Kernels } from "./kernels/kernels";
import { connectionStatus } from "./connectionStatus";
import { notebooks } from "./notebooks";
import { fail, inform } from "./notices";
import { packages } from "./packages";
import { record } from "./record";
import { renames } from "./renames";
import { results } from "./results";
import { rules } from "./rules";
import { secrets } from "./secrets";
import { Sessions } from "./sessions";
import { sessionSettings } from "./sessionSettings";
import { SessionSettings } from "./sessionSettings/sessionSettings";
import { sessionViews } from "./sessionViews";
import { toolServers } from "./toolServers";

const parts: Part[] = [agent, approvals, cells, changeViews, check, configFiles, kernelAssist, input, connectionStatus, notebooks, packages, record, renames, results, rules, secrets, sessionSettings, sessionViews, toolServers];

export function activate(extension: vscode.ExtensionContext): void {
    const log = vscode.window.createOutputChannel("cellgate", { log: true });
    extension.subscriptions.push(log);
    try {
        start(extension, log);
    } catch (error) {
        // The editor does not report that an extension failed to start.
        const reason = error instanceof Error ? error.message : String(error);
        log.error(error instanceof Error ? (error.stack ?? reason) : reason);
        void fail(`cellgate did not start: ${reason}`);
    }
}

interface Manifest {
    contributes: { commands: { command: string }[] };
}

/** A sandbox needs a folder on a disk. Without one, every command explains that, since key bindings still reach them. */
function withoutFolder({ contributes }: Manifest): vscode.Disposable[] {
    async function tell(): Promise<void> {
        const open = "Open Folder";
        const text = "cellgate works in a folder: its cells see that, and nothing else of yours. Open one on this machine's disk.";
        if ((await inform(text, open)) === open) {
            await vscode.commands.executeCommand("vscode.openFolder");
        }
    }
    return contributes.commands.map(({ command }) => vscode.commands.registerCommand(command, tell));
}

function start(extension: vscode.ExtensionContext, log: vscode.LogOutputChannel): void {
    const root = vscode.workspace.workspaceFolders?.[0]?.uri;
    if (root?.scheme !== "file") {
        extension.subscriptions.push(...withoutFolder(extension.extension.packageJSON as Manifest));
        return;
    }
    const version = (extension.extension.packageJSON as { version: string }).version;
    const settings = () => vscode.workspace.getConfiguration("cellgate", root);
    const program = () => findProgram(settings().get("program", ""), extension.extensionPath, process.env.PATH ?? "");
    const launch: Cellgate["launch"] = (subcommand) => ({
        program: program(),
        arguments: [subcommand, "--root", root.fsPath],
        cwd: root.fsPath,
    });
    const tracing: Tracing = {
        level: () => settings().get("trace", "off"),
        onDidChange: vscode.workspace.onDidChangeConfiguration,
    };
    const sidecar = new Sidecar(
        (incoming, signal) =>
            Connection.open(
                launch("connect"),
                {
                    clientInfo: { name: vscode.env.appName, version },
                    // The relay's stdin tells the sidecar of our end.
                    processId: null,
                    rootUri: root.toString(),
                    capabilities: { approvals: true, elicitation: true, input: true, images: "file" },
                    initializationOptions: {
                        lingerSeconds: settings().get("lingerSeconds", 600),
                        spareKernel: settings().get("spareKernel", true),
                    },
                },
                incoming,
                log,
                tracing,
                signal,
            ),
        log,
    );
    const sessions = new Sessions(sidecar);
    const executions = new Executions(sidecar, () => settings().get("keepChanges", true));
    const changes = new Changes(sidecar);
    const waiting = new Waiting(sidecar);
    const documents = new Documents(extension.workspaceState, root.toString());
    const settingsOfSessions = new SessionSettings(extension.workspaceState);
    const kernels = new Kernels(sidecar, sessions, documents, extension.workspaceState, settingsOfSessions);
    const anchors = new Anchors();
    const models = { sidecar, sessions, executions, changes, waiting, documents, anchors, kernels, sessionSettings: settingsOfSessions };
    const cellgate: Cellgate = { extension, version, log, root, program, launch, ...models };
    extension.subscriptions.push(
        ...[sidecar, sessions, executions, changes, waiting, kernels],
        // Executions of all clients of the workspace are shown.
        sessions.onDidChange(() => executions.attachTo(sessions.all().map(({ sessionId }) => sessionId))),
        vscode.commands.registerCommand("cellgate.showLog", () => log.show()),
        ...parts.map((part) => part(cellgate)),
    );
    sidecar.start();
}
