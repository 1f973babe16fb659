// `confirmAndRestart` restarts a kernel after the user confirmed that its variables will be lost.

import * as vscode from "vscode";
import { ask } from "../notices";
import type { Sessions } from "../sessions";
import { label } from "../text";

const setting = "askForKernelRestart";

/** True when the kernel was restarted. */
export async function confirmAndRestart(sessions: Sessions, sessionId: string): Promise<boolean> {
    // Of one that already ran it is refused, which needs no question.
    const isExisting = sessions.get(sessionId)?.kernel.connectionFile !== undefined;
    const settings = vscode.workspace.getConfiguration("cellgate");
    if (!isExisting && settings.get<boolean>(setting, true)) {
        const restart = "Restart";
        const always = "Restart, and Don't Ask Again";
        const question = `Restart the kernel of ${label(sessionId)}? Its variables are gone then, and what waits in it is cancelled.`;
        const answer = await ask(question, undefined, restart, always);
        if (answer === undefined) return false;
        if (answer === always) await settings.update(setting, false, vscode.ConfigurationTarget.Global);
    }
    await sessions.restart({ sessionId });
    return true;
}
