// What a person is told of the sidecar's own life: that it cannot be reached, and what went with one that crashed.

import * as vscode from "vscode";
import type { Cellgate } from "../cellgate";
import type { SidecarState } from "../client/sidecar";
import { warn } from "../notices";
import { label, visibleLines } from "../text";
import { lostText } from "./lost";

export function life({ sidecar, sessions, log }: Cellgate): vscode.Disposable {
    const showLog = "Show Log";
    async function told(message: string, ...actions: string[]): Promise<string | undefined> {
        const chosen = await warn(message, ...actions, showLog);
        if (chosen === showLog) await vscode.commands.executeCommand("cellgate.showLog");
        return chosen;
    }
    async function failed(state: SidecarState & { kind: "failed" }): Promise<void> {
        const reconnect = "Reconnect";
        const reason = label(state.reason.split("\n")[0] ?? "", 500);
        const hint = state.hint ? `. ${label(state.hint.split("\n").join(" "), 500)}` : "";
        if ((await told(`cellgate cannot be reached: ${reason}${hint}`, reconnect)) === reconnect) sidecar.reconnect();
    }
    return vscode.Disposable.from(
        sessions.onDidLoseKernel(({ session, reason }) => {
            // An agent is told itself.
            if (session.agent !== undefined) return;
            const why = label(reason.split("\n")[0] ?? "", 300);
            void told(`The kernel of ${session.sessionId} has ended, and its variables are gone: ${why}`);
        }),
        sidecar.onNotification("window/logMessage", ({ type, message }) => {
            // As in LSP: 1 error, 2 warning, 3 info, 4 log, 5 debug.
            const levels = ["error", "error", "warn", "info", "debug", "trace"] as const;
            // What stands in it may be a tool server's: its lines do not begin as those of the log do.
            log[levels[type] ?? "info"](visibleLines(message).replaceAll("\n", "\n    "));
        }),
        sidecar.onDidChangeState((state) => {
            if (state.kind === "failed") void failed(state);
        }),
        sidecar.onDidConnect(({ lost }) => {
            for (const work of lost ?? []) void told(lostText(work));
        }),
    );
}
