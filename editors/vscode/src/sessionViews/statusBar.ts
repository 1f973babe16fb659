// The status bar's two items: the sidecar where it is not simply there, and the session of the document that is edited.

import * as vscode from "vscode";
import type { Cellgate } from "../cellgate";
import type { SidecarState } from "../client/sidecar";
import { label } from "../text";
import { iconOf, ownerOf, statusOf, weaknessOf } from "./words";

export class StatusBar implements vscode.Disposable {
    private readonly session = vscode.window.createStatusBarItem("cellgate.session", vscode.StatusBarAlignment.Left, 10);
    private readonly connection = vscode.window.createStatusBarItem("cellgate.sidecar", vscode.StatusBarAlignment.Left, 11);
    private readonly subscriptions: vscode.Disposable;

    constructor(private readonly cellgate: Cellgate) {
        this.session.name = "cellgate: session";
        this.session.command = "cellgate.attachSession";
        this.connection.name = "cellgate: connection";
        this.subscriptions = vscode.Disposable.from(
            this.session,
            this.connection,
            cellgate.sessions.onDidChange(() => this.showSession()),
            cellgate.executions.onDidChange(() => this.showSession()),
            cellgate.documents.onDidChange(() => this.showSession()),
            vscode.window.onDidChangeActiveTextEditor(() => this.showSession()),
            cellgate.sidecar.onDidChangeState((state) => this.showConnection(state)),
        );
        this.showSession();
    }

    dispose(): void {
        this.subscriptions.dispose();
    }

    private showSession(): void {
        const { sessions, executions, documents } = this.cellgate;
        const document = vscode.window.activeTextEditor?.document;
        const id = document?.languageId === "python" ? documents.sessionOf(document.uri.toString()) : undefined;
        const session = id === undefined ? undefined : sessions.get(id);
        if (!session) {
            this.session.hide();
            return;
        }
        const waiting = executions.unfinished(session.sessionId).filter(({ state }) => state === "queued").length;
        const { name, version } = session.kernel;
        const weakness = weaknessOf(session);
        this.session.text =
            `$(${iconOf(session)}) ${label(session.sessionId, 40)} · ${session.status}` +
            (waiting > 0 ? ` · ${waiting} waiting` : "") +
            (session.agent === undefined ? "" : ` · ${ownerOf(session)}`) +
            (weakness ? ` · $(unlock) ${weakness.short}` : "");
        this.session.tooltip =
            `${label(session.sessionId)} of ${ownerOf(session)}: ${statusOf(session)}\n` +
            `${label(name)} ${label(version ?? "")}\n` +
            (weakness ? `${weakness.long}\n` : "") +
            (session.sandbox === "none" ? "" : `Held by ${session.layers.join(", ")}`);
        this.session.accessibilityInformation = {
            label: `cellgate session ${session.sessionId}, ${session.status}${weakness ? `, ${weakness.short}` : ""}`,
        };
        this.session.backgroundColor = weakness ? new vscode.ThemeColor("statusBarItem.warningBackground") : undefined;
        this.session.show();
    }

    private showConnection(state: SidecarState): void {
        if (state.kind === "connected" || state.kind === "stopped" || state.kind === "connecting") {
            this.connection.hide();
            return;
        }
        this.connection.text = state.kind === "waiting" ? "$(sync~spin) cellgate: connecting again" : "$(error) cellgate: not connected";
        this.connection.tooltip = label(state.reason, 1000);
        this.connection.command = state.kind === "waiting" ? "cellgate.showLog" : "cellgate.reconnect";
        this.connection.show();
    }
}
