// What the editor is told so that it offers a command where it makes sense, and not elsewhere: `cellgate.place` is `file`
// in one whose code can be run, `notebook` in one whose session there is; `cellgate.hasCells`: the file has cells;
// `cellgate.waits`: code waits for its turn, in whichever session.

import * as vscode from "vscode";
import { active, onDidChangeActive } from "../active";
import type { Cellgate } from "../cellgate";
import { hasCells } from "./cells";

const restMilliseconds = 100;

export class ContextKeys implements vscode.Disposable {
    private readonly told = new Map<string, unknown>();
    private readonly subscriptions: vscode.Disposable;
    private timer: NodeJS.Timeout | undefined;

    constructor(private readonly cellgate: Cellgate) {
        this.subscriptions = vscode.Disposable.from(
            onDidChangeActive(() => this.look()),
            cellgate.sessions.onDidChange(() => this.look()),
            cellgate.executions.onDidChange(() => {
                this.tell("cellgate.waits", cellgate.executions.all().some(({ state }) => state === "queued"));
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
        this.tell("cellgate.place", isThere ? here.kind : undefined);
        this.tell("cellgate.hasCells", here?.kind === "file" && hasCells(here.document.getText()));
    }

    private tell(key: string, value: unknown): void {
        if (this.told.get(key) === value) return;
        this.told.set(key, value);
        void vscode.commands.executeCommand("setContext", key, value);
    }
}
