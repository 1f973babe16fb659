// `connectionStatus` notifies the user about the sidecar itself: that it cannot be reached, and what was lost in a
// crash. It registers the command that connects again, which says when that is done.

import * as vscode from "vscode";
import type { Cellgate } from "../cellgate";
import type { SidecarState } from "../client/sidecar";
import { inform, warn } from "../notices";
import { firstLine, label } from "../text";
import { lostText } from "./lost";

export function connectionStatus({ sidecar, sessions }: Cellgate): vscode.Disposable {
    const showLog = "Show Log";
    async function notify(message: string, ...actions: string[]): Promise<string | undefined> {
        const chosen = await warn(message, ...actions, showLog);
        if (chosen === showLog) await vscode.commands.executeCommand("cellgate.showLog");
        return chosen;
    }
    let reconnected: { dispose(): unknown } | undefined;
    function reconnect(): void {
        reconnected?.dispose();
        reconnected = sidecar.onDidConnect(() => {
            reconnected?.dispose();
            void inform("cellgate: connected to the sidecar again.");
        });
        sidecar.reconnect();
    }
    async function failed(state: SidecarState & { kind: "failed" }): Promise<void> {
        const retry = "Reconnect";
        const reason = label(firstLine(state.reason), 500);
        const hint = state.hint ? `. ${label(state.hint.split("\n").join(" "), 500)}` : "";
        if ((await notify(`cellgate cannot be reached: ${reason}${hint}`, retry)) === retry) reconnect();
    }
    return vscode.Disposable.from(
        vscode.commands.registerCommand("cellgate.reconnect", reconnect),
        { dispose: () => void reconnected?.dispose() },
        sessions.onDidLoseKernel(({ session, reason }) => {
            // The agent gets a notification of its own.
            if (session.agent !== undefined) return;
            const why = label(firstLine(reason), 300);
            void notify(`The kernel of ${session.sessionId} has ended, and its variables are gone: ${why}`);
        }),
        sidecar.onDidChangeState((state) => {
            if (state.kind === "failed") void failed(state);
        }),
        sidecar.onDidConnect(({ lost }) => {
            for (const work of lost ?? []) void notify(lostText(work));
        }),
    );
}
