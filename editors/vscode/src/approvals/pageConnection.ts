// `PageConnection` is the extension's side of one open approvals page: it sends the waiting calls, and passes the page's
// answers on to `Pending`. Each page has its own nonce. An answer of one page reaches the others through `Pending`.

import { randomUUID } from "node:crypto";
import type { Disposable } from "vscode-jsonrpc/node";
import { textOf } from "../client/errors";
import type { Approval } from "../protocol/messages";
import { answerOf, type PageState } from "./answer";
import type { FromPage, ToPage } from "./messages";
import { outlineOf } from "./outline";
import { decisionText } from "./pending";
import type { ViewHost } from "./viewHost";

/** The webview that shows the page. */
export interface PageFrame {
    readonly visible: boolean;
    post(message: ToPage): void;
}

export class PageConnection implements Disposable {
    private pageState: PageState = { nonce: "", approvals: new Map() };
    private decided: { id: string; text: string }[] = [];
    private isScheduled = false;
    private isDisposed = false;
    private readonly subscriptions: Disposable[];

    constructor(
        private readonly host: ViewHost,
        private readonly frame: PageFrame,
    ) {
        this.subscriptions = [
            host.pending.onDidDecide((decided) => {
                this.decided.push({ id: decided.approval.approvalId, text: decisionText(decided) });
            }),
            host.pending.onDidChange(() => this.refresh()),
        ];
    }

    dispose(): void {
        this.isDisposed = true;
        for (const subscription of this.subscriptions) subscription.dispose();
    }

    /** Sends the waiting calls. All changes of one turn of the event loop are one message. */
    refresh(): void {
        if (this.isScheduled) return;
        this.isScheduled = true;
        setImmediate(() => {
            this.isScheduled = false;
            const approvals = this.host.pending.all();
            const items = approvals.map((approval) => this.host.item(approval));
            this.pageState = { nonce: randomUUID(), approvals: new Map(approvals.map((each) => [each.approvalId, each])) };
            this.post({
                type: "waiting",
                nonce: this.pageState.nonce,
                items,
                decided: this.decided.splice(0),
                connected: this.host.connected(),
            });
        });
    }

    /** Tells the page whether the editor shows it. */
    sendVisibility(): void {
        if (!this.isDisposed) this.post({ type: "shown", shown: this.frame.visible });
    }

    async take(message: FromPage): Promise<void> {
        if (message.type === "ready") {
            this.sendVisibility();
            this.refresh();
            return;
        }
        if (message.type === "openEditor") return this.host.openEditor();
        const ids = message.type === "answer" ? message.ids : [message.id];
        try {
            if (message.type === "answer") {
                await this.host.pending.respond(answerOf(message, this.pageState));
                return;
            }
            const approval = this.host.pending.get(message.id);
            if (!approval) return;
            if (message.type === "edit") await this.edit(approval);
            else if (message.type === "code") await this.host.openCode(approval);
            else await this.host.reveal(approval);
        } catch (error) {
            this.post({ type: "refused", ids, text: textOf(error) });
        }
    }

    private async edit(approval: Approval): Promise<void> {
        if (approval.editText === undefined) throw new Error("there are no arguments to edit");
        const schema = await this.host.schemaOf(approval);
        this.post({ type: "editor", id: approval.approvalId, text: approval.editText, outline: schema ? outlineOf(schema) : [] });
    }

    /** A disposed webview refuses every access. */
    private post(message: ToPage): void {
        if (!this.isDisposed) this.frame.post(message);
    }
}
