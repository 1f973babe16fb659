// `kernelCommands` registers the commands on the kernel of the active file or notebook: interrupt, restart, cancel.

import * as vscode from "vscode";
import { active, type Active } from "../active";
import type { Cellgate } from "../cellgate";
import type { Execution, Executions } from "../executions";
import { confirmAndRestart } from "../kernels/restart";
import { inform, showError, warn } from "../notices";
import type { Sessions } from "../sessions";
import type { CellRunner } from "./runner";

export function kernelCommands(cellgate: Cellgate, runner: CellRunner): vscode.Disposable {
    const { executions, sessions } = cellgate;

    async function restartAndRunAll({ document, sessionId }: Active & { kind: "file" }): Promise<void> {
        if (!sessions.get(sessionId) || (await restart(sessions, sessionId))) runner.runCells(document, (all) => all);
    }

    const onSession: Record<string, (sessionId: string) => unknown> = {
        interrupt(sessionId) {
            const running = executions.unfinished(sessionId).find((each) => each.state === "running");
            return running && cancel(cellgate, running);
        },
        restart: (sessionId) => restart(sessions, sessionId),
    };
    return vscode.Disposable.from(
        ...Object.entries(onSession).map(([name, action]) =>
            vscode.commands.registerCommand(`cellgate.${name}`, () => {
                const sessionId = active(cellgate)?.sessionId;
                if (sessionId !== undefined && sessions.get(sessionId)) action(sessionId);
                else void inform("cellgate: there is no kernel here yet. The first cell that runs starts one.");
            }),
        ),
        vscode.commands.registerCommand("cellgate.restartAndRunAll", () => {
            const here = active(cellgate);
            if (here?.kind === "file") void restartAndRunAll(here);
        }),
        vscode.commands.registerCommand("cellgate.cancelExecution", (which: string | { execution: Execution }) => {
            const execution = typeof which === "string" ? executions.get(which) : which.execution;
            if (execution) void cancel(cellgate, execution);
        }),
    );
}

/** Whether the user confirmed the restart, and it succeeded. */
async function restart(sessions: Sessions, sessionId: string): Promise<boolean> {
    try {
        return await confirmAndRestart(sessions, sessionId);
    } catch (error) {
        showError(error);
        return false;
    }
}

/** Interrupts the execution, or removes it from the queue. Offers a restart of the kernel when the code does not stop. */
async function cancel({ executions, sessions }: { executions: Executions; sessions: Sessions }, execution: Execution): Promise<void> {
    try {
        const { kernelBusy } = await executions.cancel(execution);
        if (!kernelBusy) return;
        const answer = await warn(
            "cellgate: the code does not stop. Restarting the kernel ends it, and loses its variables.",
            "Restart Kernel",
        );
        if (answer) await sessions.restart({ sessionId: execution.sessionId });
    } catch (error) {
        showError(error);
    }
}
