// Sessions where a person sees them: a view with what each runs and has waiting, the status bar, and the commands on them.

import * as vscode from "vscode";
import { active } from "../active";
import type { Cellgate } from "../cellgate";
import type { Execution } from "../executions";
import { restartAsked } from "../kernels/restart";
import { ask, inform, tell } from "../notices";
import { revealCell } from "./cellOf";
import type { Session } from "../sessions";
import { label } from "../text";
import { SessionTree } from "./tree";
import { StatusBar } from "./statusBar";
import { ownerOf, statusOf } from "./words";

export function sessionViews(cellgate: Cellgate): vscode.Disposable {
    const { sessions, documents, kernels, executions } = cellgate;
    const tree = new SessionTree(cellgate);

    async function attach(): Promise<void> {
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
        if (!chosen) return;
        try {
            await documents.choose(uri, chosen.sessionId);
        } catch (error) {
            tell(error);
        }
    }

    async function close({ sessionId }: Session): Promise<void> {
        const answer = await ask(
            `Close the session ${sessionId}? Its kernel ends, and its variables are gone.`,
            undefined,
            "Close Session",
        );
        if (answer) await sessions.close(sessionId);
    }

    async function selectKernel(): Promise<void> {
        if (!(await kernels.select())) return;
        const here = active(cellgate);
        const session = here?.kind === "file" ? sessions.get(here.sessionId) : undefined;
        if (!session) return;
        const answer = await inform(
            `${session.sessionId} has a kernel already. Close it, so that the next cell starts the chosen one?`,
            "Close Session",
        );
        if (answer) await sessions.close(session.sessionId);
    }

    /** Of the session, or of all; what came last goes first, so that nothing begins meanwhile. */
    async function cancelWaiting(session?: Session): Promise<void> {
        const all = session ? executions.unfinished(session.sessionId) : executions.all();
        const waiting = all.filter(({ state }) => state === "queued").reverse();
        await Promise.all(waiting.map((execution) => executions.cancel(execution)));
    }

    const onSession = (name: string, action: (session: Session) => Promise<void>) =>
        vscode.commands.registerCommand(`cellgate.${name}`, (session: Session) => action(session).catch(tell));

    return vscode.Disposable.from(
        tree,
        new StatusBar(cellgate),
        vscode.window.createTreeView("cellgate.sessions", { treeDataProvider: tree }),
        vscode.commands.registerCommand("cellgate.attachSession", attach),
        vscode.commands.registerCommand("cellgate.selectKernel", () => selectKernel().catch(tell)),
        onSession("interruptSession", ({ sessionId }) => sessions.interrupt(sessionId)),
        onSession("restartSession", async ({ sessionId }) => {
            await restartAsked(sessions, sessionId);
        }),
        onSession("closeSession", close),
        vscode.commands.registerCommand("cellgate.cancelWaiting", (session?: Session) => cancelWaiting(session).catch(tell)),
        vscode.commands.registerCommand("cellgate.showCell", ({ execution }: { execution: Execution }) =>
            revealCell(cellgate, execution).catch(tell),
        ),
    );
}
