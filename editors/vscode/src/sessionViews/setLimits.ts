// These functions let the user change a limit of a session.

import * as vscode from "vscode";
import type { Cellgate } from "../cellgate";
import { confirmAndRestart } from "../kernels/restart";
import { inform } from "../notices";
import type { Session } from "../sessions";
import { label } from "../text";
import { exampleOf, limitNames, limitOf, parseLimit, titleOf, type Limit } from "./limitNames";

export async function setLimits(cellgate: Cellgate, session: Session): Promise<void> {
    const items = limitNames.map((limit) => ({ label: limit.title, description: limitOf(limit, session), limit }));
    const chosen = await vscode.window.showQuickPick(items, { title: `The limits of ${label(session.sessionId)}` });
    if (chosen) await changeLimit(cellgate, session, chosen.limit);
}

/** Asks for a value, which holds at once; where it needs a restart, that is said, and offered. */
export async function changeLimit({ sessions }: Pick<Cellgate, "sessions">, session: Session, limit: Limit): Promise<void> {
    const { sessionId } = session;
    const typed = await vscode.window.showInputBox({
        title: `${limit.title}: ${exampleOf(limit)}`,
        placeHolder: limitOf(limit, session),
        validateInput: (text) => (parseLimit(limit, text) === undefined ? `Expected ${exampleOf(limit)}` : undefined),
    });
    const value = typed === undefined ? undefined : parseLimit(limit, typed);
    if (value === undefined) return;
    const { afterRestart } = await sessions.setLimits({ sessionId, limits: { [limit.name]: value } });
    if (afterRestart.length === 0) return;
    const restart = "Restart Kernel";
    const answer = await inform(`${afterRestart.map(titleOf).join(", ")}: holds once the kernel has started again.`, restart);
    if (answer === restart) await confirmAndRestart(sessions, sessionId);
}
