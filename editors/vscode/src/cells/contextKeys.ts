// `ContextKeys` sets the context keys by which the editor offers commands: `cellgate.activeKind` is `file` for a file
// whose code can run, and `notebook` for one that has a session; `cellgate.hasCells`: the file has cells;
// `cellgate.hasQueued`: any session has queued executions. `cellgate.hasRun` and `cellgate.hasAgent` tick steps of the
// walkthrough: code of the user, or of an agent, ran.

import * as vscode from "vscode";
import { active, onDidChangeActive } from "../active";
import type { Cellgate } from "../cellgate";
import { hasCells } from "./cells";

const restMilliseconds = 100;

export class ContextKeys implements vscode.Disposable {
    private readonly sent = new Map<string, unknown>();
    private readonly subscriptions: vscode.Disposable;
    private timer: NodeJS.Timeout | undefined;

    constructor(private readonly cellgate: Cellgate) {
        this.subscriptions = vscode.Disposable.from(
            onDidChangeActive(() => this.look()),
            cellgate.sessions.onDidChange(() => this.look()),
            cellgate.executions.onDidChange(() => {
                const all = cellgate.executions.all();
                const begun = all.filter(({ state }) => state !== "queued");
                this.set("cellgate.hasQueued", begun.length < all.length);
                this.set("cellgate.hasRun", begun.some((each) => each.agent === undefined));
                this.set("cellgate.hasAgent", begun.some((each) => each.agent !== undefined));
            }),
            vscode.workspace.onDidChangeTextDocument(({ document }) => {
                // Once the keys rest: what is typed needs no look at the whole text for each letter.
                if (document === vscode.window.activeTextEditor?.document) this.timer ??= setTimeout(() => this.look(), restMilliseconds);
            }),
        );
        this.look();
    }

    dispose(): void {
        clearTimeout(this.timer);
        this.subscriptions.dispose();
    }

    private look(): void {
        clearTimeout(this.timer);
        this.timer = undefined;
        const here = active(this.cellgate);
        const isThere = here?.kind === "file" || (here && this.cellgate.sessions.get(here.sessionId) !== undefined);
        this.set("cellgate.activeKind", isThere ? here.kind : undefined);
        this.set("cellgate.hasCells", here?.kind === "file" && hasCells(here.document.getText()));
    }

    private set(key: string, value: unknown): void {
        if (this.sent.get(key) === value) return;
        this.sent.set(key, value);
        void vscode.commands.executeCommand("setContext", key, value);
    }
}
