// `connectionStatus` notifies the user about the sidecar itself: that it cannot be reached, and what was lost in a
// crash.

import * as vscode from "vscode";
import type { Cellgate } from "../cellgate";
import type { SidecarState } from "../client/sidecar";
import { warn } from "../notices";
import { firstLine, label } from "../text";
import { lostText } from "./lost";

export function connectionStatus({ sidecar, sessions }: Cellgate): vscode.Disposable {
    const showLog = "Show Log";
    async function notify(message: string, ...actions: string[]): Promise<string | undefined> {
        const chosen = await warn(message, ...actions, showLog);
        if (chosen === showLog) await vscode.commands.executeCommand("cellgate.showLog");
        return chosen;
    }
    async function failed(state: SidecarState & { kind: "failed" }): Promise<void> {
        const reconnect = "Reconnect";
        const reason = label(firstLine(state.reason), 500);
        const hint = state.hint ? `. ${label(state.hint.split("\n").join(" "), 500)}` : "";
        if ((await notify(`cellgate cannot be reached: ${reason}${hint}`, reconnect)) === reconnect) sidecar.reconnect();
    }
    return vscode.Disposable.from(
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
