// The approvals view: gives the page what waits, and takes its answers. The page comes from the extension's own files
// alone, runs its one script by a nonce, and can load nothing from anywhere. Script and style stand in it: what a page
// asks the editor for can be lost on a busy machine, and the view would stay empty while a call waits.

import { randomBytes, randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import * as vscode from "vscode";
import { textOf } from "../client/errors";
import { asWritten } from "../client/wire";
import type { Approval } from "../protocol/messages";
import { answerOf, type Offer } from "./answer";
import { editText } from "./edit";
import type { FromPage, Question, ToPage } from "./messages";
import { outlineOf } from "./outline";
import { decisionText, type Pending } from "./pending";

export interface Surroundings {
    readonly folder: vscode.Uri;
    readonly pending: Pending;
    question(approval: Approval): Question;
    schemaOf(approval: Approval): Promise<Record<string, unknown> | undefined>;
    reveal(approval: Approval): Promise<void>;
    openCode(approval: Approval): Promise<void>;
    connected(): boolean;
}

export class ApprovalsView implements vscode.WebviewViewProvider, vscode.Disposable {
    private view: vscode.WebviewView | undefined;
    private offer: Offer = { nonce: "", approvals: new Map() };
    private decided: { id: string; text: string }[] = [];
    private posting = false;
    private readonly subscriptions: vscode.Disposable;

    constructor(private readonly around: Surroundings) {
        this.subscriptions = vscode.Disposable.from(
            around.pending.onDidDecide((decided) => {
                this.decided.push({ id: decided.approval.approvalId, text: decisionText(decided) });
            }),
            around.pending.onDidChange(() => this.refresh()),
        );
    }

    dispose(): void {
        this.subscriptions.dispose();
    }

    get visible(): boolean {
        return this.view?.visible ?? false;
    }

    resolveWebviewView(view: vscode.WebviewView): void {
        this.view = view;
        const text = (...way: string[]) => readFileSync(vscode.Uri.joinPath(this.around.folder, ...way).fsPath, "utf8");
        view.webview.options = { enableScripts: true, localResourceRoots: [] };
        view.webview.onDidReceiveMessage((message: FromPage) => void this.take(message));
        view.onDidChangeVisibility(() => this.tellShown());
        view.onDidDispose(() => {
            this.view = undefined;
        });
        view.webview.html = page(text("dist", "approvals.js"), text("media", "approvals.css"));
        this.showCount();
    }

    /** Gives the page what waits now. What changes in one turn is one change. */
    refresh(): void {
        this.showCount();
        if (this.posting || !this.view) return;
        this.posting = true;
        setImmediate(() => {
            this.posting = false;
            const approvals = this.around.pending.all();
            const questions = approvals.map((approval) => this.around.question(approval));
            this.offer = { nonce: randomUUID(), approvals: new Map(approvals.map((each) => [each.approvalId, each])) };
            this.post({
                type: "waiting",
                nonce: this.offer.nonce,
                questions,
                decided: this.decided.splice(0),
                connected: this.around.connected(),
            });
        });
    }

    private tellShown(): void {
        this.post({ type: "shown", shown: this.visible });
    }

    private showCount(): void {
        if (!this.view) return;
        const count = this.around.pending.all().length;
        // With none at all the editor goes on showing the last one.
        this.view.badge = { value: count, tooltip: waitingText(count) };
    }

    private post(message: ToPage): void {
        void this.view?.webview.postMessage(message);
    }

    private async take(message: FromPage): Promise<void> {
        if (message.type === "ready") {
            this.tellShown();
            this.refresh();
            return;
        }
        const ids = message.type === "answer" ? message.ids : [message.id];
        try {
            if (message.type === "answer") {
                await this.around.pending.respond(answerOf(message, this.offer));
                return;
            }
            const approval = this.around.pending.get(message.id);
            if (!approval) return;
            if (message.type === "edit") await this.edit(approval);
            else if (message.type === "code") await this.around.openCode(approval);
            else await this.around.reveal(approval);
        } catch (error) {
            this.post({ type: "refused", ids, text: textOf(error) });
        }
    }

    private async edit(approval: Approval): Promise<void> {
        const args = asWritten(approval, "action", "arguments");
        if (!args) throw new Error("there are no arguments to edit");
        const schema = await this.around.schemaOf(approval);
        this.post({ type: "editor", id: approval.approvalId, text: editText(args), outline: schema ? outlineOf(schema) : [] });
    }
}

export const waitingText = (count: number) => (count === 1 ? "1 call waits for your answer" : `${count} calls wait for your answer`);

function page(script: string, style: string): string {
    const nonce = randomBytes(16).toString("hex");
    const policy = `default-src 'none'; style-src 'nonce-${nonce}'; script-src 'nonce-${nonce}'`;
    return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<style nonce="${nonce}">${style}</style>
<title>Approvals</title>
</head>
<body>
<script nonce="${nonce}">${script.replaceAll("</script", "<\\/script")}</script>
</body>
</html>`;
}
