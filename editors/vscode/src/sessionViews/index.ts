// Sessions where a person sees them: a view with what each runs and has waiting, the status bar, and the commands on them.

import * as vscode from "vscode";
import type { Cellgate } from "../cellgate";
import { tell } from "../kernels/kernels";
import type { Session } from "../sessions";
import { label } from "../text";
import { SessionTree } from "./tree";
import { StatusBar } from "./statusBar";
import { ownerOf, statusOf } from "./words";

export function sessionViews(cellgate: Cellgate): vscode.Disposable {
    const { sessions, documents, kernels } = cellgate;
    const tree = new SessionTree(cellgate);

    async function attach(): Promise<void> {
        const document = vscode.window.activeTextEditor?.document;
        if (!document) return;
        const uri = document.uri.toString();
        const present = documents.sessionOf(uri);
        const items = sessions.all().map((session) => ({
            label: `${session.sessionId === present ? "$(check) " : ""}${label(session.sessionId)}`,
            description: `${ownerOf(session)}, ${statusOf(session)}`,
            sessionId: session.sessionId,
        }));
        const own = { label: "$(add) A session of its own", description: "", sessionId: undefined };
        const chosen = await vscode.window.showQuickPick([own, ...items], {
            title: `The session that runs the cells of ${vscode.workspace.asRelativePath(document.uri)}`,
        });
        if (!chosen) return;
        try {
            await documents.choose(uri, chosen.sessionId);
        } catch (error) {
            tell(error);
        }
    }

    async function close({ sessionId }: Session): Promise<void> {
        const answer = await vscode.window.showWarningMessage(
            `Close the session ${sessionId}? Its kernel ends, and its variables are gone.`,
            { modal: true },
            "Close Session",
        );
        if (answer) await sessions.close(sessionId);
    }

    async function selectKernel(): Promise<void> {
        if (!(await kernels.select())) return;
        const document = vscode.window.activeTextEditor?.document;
        const session = document && sessions.get(documents.sessionOf(document.uri.toString()));
        if (!session) return;
        const answer = await vscode.window.showInformationMessage(
            `${session.sessionId} has a kernel already. Close it, so that the next cell starts the chosen one?`,
            "Close Session",
        );
        if (answer) await sessions.close(session.sessionId);
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
        onSession("restartSession", ({ sessionId }) => sessions.restart({ sessionId })),
        onSession("closeSession", close),
    );
}
