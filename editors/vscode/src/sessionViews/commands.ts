// `sessionCommands` registers the commands on sessions. A row of the view names the session; the others concern the active
// file.

import * as vscode from "vscode";
import { active, ordinaryNotebooks } from "../active";
import type { Cellgate } from "../cellgate";
import type { Execution } from "../executions";
import { confirmAndRestart } from "../kernels/restart";
import { controllerIdOf } from "../notebooks/controllers";
import { ask, inform, showError } from "../notices";
import type { Session } from "../sessions";
import { label } from "../text";
import { revealCell } from "./cellOf";
import { ownerOf, statusOf } from "./labels";
import { showPermissions } from "./permissions";
import { setLimits } from "./setLimits";

export function sessionCommands(cellgate: Cellgate): vscode.Disposable {
    const { sessions } = cellgate;
    const commands: Record<string, (argument: never) => Promise<unknown>> = {
        attachSession: () => attach(cellgate),
        selectKernel: () => selectKernel(cellgate),
        interruptSession: ({ sessionId }: Session) => sessions.interrupt(sessionId),
        restartSession: ({ sessionId }: Session) => confirmAndRestart(sessions, sessionId),
        closeSession: (session: Session) => close(cellgate, session),
        setLimits: (session: Session) => setLimits(cellgate, session),
        showPermissions: (session?: Session) => permissionsOf(cellgate, session),
        cancelWaiting: (session?: Session) => cancelWaiting(cellgate, session),
        showCell: ({ execution }: { execution: Execution }) => revealCell(cellgate, execution),
    };
    return vscode.Disposable.from(
        ...Object.entries(commands).map(([name, action]) =>
            vscode.commands.registerCommand(`cellgate.${name}`, async (argument: never) => {
                await action(argument).catch(showError);
            }),
        ),
    );
}

/** The user picks the session that runs the cells of the active file. */
async function attach(cellgate: Cellgate): Promise<void> {
    const { sessions, documents } = cellgate;
    const here = active(cellgate);
    if (here?.kind !== "file") return;
    const uri = here.uri.toString();
    const present = documents.sessionOf(uri);
    const items = sessions.all().map((session) => ({
        label: `${session.sessionId === present ? "$(check) " : ""}${label(session.sessionId)}`,
        description: `${ownerOf(session)}, ${statusOf(session)}`,
        sessionId: session.sessionId,
    }));
    const own = { label: "$(add) A session of its own", description: "", sessionId: undefined };
    const chosen = await vscode.window.showQuickPick([own, ...items], {
        title: `The session that runs the cells of ${vscode.workspace.asRelativePath(here.uri)}`,
    });
    if (chosen) await documents.choose(uri, chosen.sessionId);
}

/** From the palette: of the active file or notebook, or where none is active of the only session. */
async function permissionsOf(cellgate: Cellgate, session?: Session): Promise<void> {
    const { sessions } = cellgate;
    const here = active(cellgate)?.sessionId;
    const [first, ...others] = sessions.all();
    const ofActive = here === undefined ? undefined : sessions.get(here);
    const only = here === undefined && others.length === 0 ? first : undefined;
    const shown = session ?? ofActive ?? only;
    if (shown) await showPermissions(cellgate, shown);
    else if (!first) void inform("No session runs yet: it begins with the first cell.");
    else if (here === undefined) void inform("Several sessions run. Choose one in the view of sessions, or open its file.");
    else void inform("No session runs for the active file: it begins with its first cell. The view of sessions has the others.");
}

async function close({ sessions }: Cellgate, { sessionId }: Session): Promise<void> {
    const answer = await ask(`Close the session ${sessionId}? Its kernel ends, and its variables are gone.`, undefined, "Close Session");
    if (answer) await sessions.close(sessionId);
}

async function selectKernel(cellgate: Cellgate): Promise<void> {
    const { kernels, sessions } = cellgate;
    if (vscode.window.activeNotebookEditor?.notebook.notebookType === ordinaryNotebooks) {
        const chosen = await kernels.selectForNotebook();
        const id = chosen && controllerIdOf(chosen);
        if (id) await vscode.commands.executeCommand("notebook.selectKernel", { id, extension: cellgate.extension.extension.id });
        return;
    }
    const name = await kernels.select();
    if (name === undefined) return;
    const here = active(cellgate);
    const session = here?.kind === "file" ? sessions.get(here.sessionId) : undefined;
    if (!session) {
        void inform(`The next session has ${label(name)}.`);
        return;
    }
    const answer = await inform(
        `${label(session.sessionId)} has a kernel already. Close it, so that the next cell starts ${label(name)}?`,
        "Close Session",
    );
    if (answer) await sessions.close(session.sessionId);
}

/** Cancels the queue of the session, or of all sessions; from its end, so that no queued cell begins meanwhile. */
async function cancelWaiting({ executions }: Cellgate, session?: Session): Promise<void> {
    const all = session ? executions.unfinished(session.sessionId) : executions.all();
    const waiting = all.filter(({ state }) => state === "queued").reverse();
    await Promise.all(waiting.map((execution) => executions.cancel(execution)));
}
