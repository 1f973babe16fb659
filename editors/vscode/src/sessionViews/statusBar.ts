// `StatusBar` is two items of the status bar: the connection to the sidecar while there is a problem, and the session
// of the active editor.

import * as vscode from "vscode";
import { active, onDidChangeActive } from "../active";
import type { Cellgate } from "../cellgate";
import { progressText, wholeProgress } from "../cells/states";
import type { SidecarState } from "../client/sidecar";
import { label } from "../text";
import { iconOf, ownerOf, statusOf, weaknessOf } from "./labels";

const connectingMilliseconds = 1000;

export class StatusBar implements vscode.Disposable {
    private readonly session = vscode.window.createStatusBarItem("cellgate.session", vscode.StatusBarAlignment.Left, 10);
    private readonly connection = vscode.window.createStatusBarItem("cellgate.sidecar", vscode.StatusBarAlignment.Left, 11);
    private readonly subscriptions: vscode.Disposable;
    private timer: NodeJS.Timeout | undefined;

    constructor(private readonly cellgate: Cellgate) {
        this.session.name = "cellgate: session";
        this.connection.name = "cellgate: connection";
        this.subscriptions = vscode.Disposable.from(
            this.session,
            this.connection,
            cellgate.sessions.onDidChange(() => this.showSession()),
            cellgate.executions.onDidChange(() => this.showSession()),
            cellgate.documents.onDidChange(() => this.showSession()),
            onDidChangeActive(() => this.showSession()),
            cellgate.sidecar.onDidChangeState((state) => this.showConnection(state)),
        );
        this.showSession();
    }

    dispose(): void {
        clearTimeout(this.timer);
        this.subscriptions.dispose();
    }

    private showSession(): void {
        const { sessions, executions } = this.cellgate;
        const here = active(this.cellgate);
        const session = here && sessions.get(here.sessionId);
        if (!session) {
            this.session.hide();
            return;
        }
        // A notebook stays with the session of its own.
        this.session.command = here.kind === "file" ? "cellgate.attachSession" : "cellgate.sessions.focus";
        const unfinished = executions.unfinished(session.sessionId);
        const waiting = unfinished.filter(({ state }) => state === "queued").length;
        const progress = unfinished.find((each) => each.state === "running")?.progress;
        const { name, version } = session.kernel;
        const weakness = weaknessOf(session);
        this.session.text =
            `$(${iconOf(session)}) ${label(session.sessionId, 40)} · ${session.status}` +
            (waiting > 0 ? ` · ${waiting} waiting` : "") +
            (session.agent === undefined ? "" : ` · ${ownerOf(session)}`) +
            (weakness ? ` · $(${weakness.icon}) ${weakness.short}` : "") +
            (progress === undefined ? "" : ` · ${progressText(progress)}`);
        this.session.tooltip =
            `${label(session.sessionId)} of ${ownerOf(session)}: ${statusOf(session)}\n` +
            (progress === undefined ? "" : `${wholeProgress(progress)}\n`) +
            `${label(name)} ${label(version ?? "")}\n` +
            (weakness ? `${weakness.long}\n` : "") +
            (session.sandbox === "none" ? "" : `Held by ${session.layers.join(", ")}`);
        this.session.accessibilityInformation = {
            label: `cellgate session ${session.sessionId}, ${session.status}${weakness ? `, ${weakness.short}` : ""}`,
        };
        this.session.backgroundColor = weakness?.icon === "unlock" ? new vscode.ThemeColor("statusBarItem.warningBackground") : undefined;
        this.session.show();
    }

    private showConnection(state: SidecarState): void {
        clearTimeout(this.timer);
        const { kind } = state;
        if (kind === "connecting") {
            // Connecting usually takes less than a second: until then the item stays as it was.
            this.timer = setTimeout(() => {
                const tooltip = "cellgate has not answered yet. Click to try again.";
                this.tellConnection("$(sync~spin) cellgate: connecting", tooltip, "cellgate.reconnect");
            }, connectingMilliseconds);
        } else if (kind === "connected" || kind === "stopped") {
            this.connection.hide();
        } else if (kind === "waiting") {
            this.tellConnection("$(sync~spin) cellgate: connecting again", state.reason, "cellgate.showLog");
        } else {
            this.tellConnection("$(error) cellgate: not connected", [state.reason, state.hint].filter(Boolean).join(" "), "cellgate.reconnect");
        }
    }

    private tellConnection(text: string, tooltip: string, command: string): void {
        this.connection.text = text;
        this.connection.tooltip = label(tooltip, 1000);
        this.connection.command = command;
        this.connection.show();
    }
}
