// `PageConnection` is the extension's side of one open approvals page: it sends what waits, and passes the page's answers
// on to `Waiting`. Each page has its own nonce. An answer of one page reaches the others through `Waiting`.

import { randomUUID } from "node:crypto";
import type { Disposable } from "vscode-jsonrpc/node";
import { textOf } from "../client/errors";
import type { Approval, ApprovalRespondParams, Elicitation } from "../protocol/messages";
import { answerOf, type PageState } from "./answer";
import { endText, isElicitation } from "./elicitations";
import { pageIdOf } from "./items";
import type { FromPage, ToPage } from "./messages";
import { outlineOf } from "./outline";
import { decisionText } from "./pending";
import { askedOf, replyOf } from "./reply";
import type { ViewHost } from "./viewHost";
import type { Waits } from "./waiting";

/** The webview that shows the page. */
export interface PageFrame {
    readonly visible: boolean;
    post(message: ToPage): void;
}

export class PageConnection implements Disposable {
    private pageState: PageState = { nonce: "", approvals: new Map(), elicitations: new Map() };
    private decided: { id: string; text: string }[] = [];
    private isScheduled = false;
    private isDisposed = false;
    private readonly subscriptions: Disposable[];

    constructor(
        private readonly host: ViewHost,
        private readonly frame: PageFrame,
    ) {
        this.subscriptions = [
            host.waiting.approvals.onDidEnd((ended) => {
                this.decided.push({ id: ended.item.approvalId, text: decisionText(ended) });
            }),
            host.waiting.elicitations.onDidEnd((ended) => {
                this.decided.push({ id: pageIdOf(ended.item.elicitationId), text: endText(ended) });
            }),
            host.waiting.onDidChange(() => this.refresh()),
        ];
    }

    dispose(): void {
        this.isDisposed = true;
        for (const subscription of this.subscriptions) subscription.dispose();
    }

    /** Sends what waits. All changes of one turn of the event loop are one message. */
    refresh(): void {
        if (this.isScheduled) return;
        this.isScheduled = true;
        setImmediate(() => {
            this.isScheduled = false;
            const waiting = this.host.waiting.all();
            const items = waiting.map((each) => this.host.item(each));
            this.pageState = {
                nonce: randomUUID(),
                approvals: new Map(waiting.flatMap((each) => (isElicitation(each) ? [] : [[each.approvalId, each]]))),
                elicitations: new Map(waiting.flatMap((each) => (isElicitation(each) ? [[pageIdOf(each.elicitationId), each]] : []))),
            };
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
                await this.respond(answerOf(message, this.pageState));
            } else if (message.type === "reply") {
                await this.host.waiting.elicitations.respond(replyOf(message, this.pageState));
            } else if (message.type === "openPage") {
                await this.openPage(askedOf(message, this.pageState));
            } else {
                const waits = this.pageState.approvals.get(message.id) ?? this.pageState.elicitations.get(message.id);
                if (waits) await this.show(message.type, waits);
            }
        } catch (error) {
            this.post({ type: "refused", ids, text: textOf(error) });
        }
    }

    private respond(params: ApprovalRespondParams): Promise<void> {
        const { approvals } = this.host.waiting;
        return approvals.needsTouch(params) ? this.host.touch((token) => approvals.respond(params, token)) : approvals.respond(params);
    }

    /** What answers nothing. */
    private async show(what: "edit" | "code" | "reveal" | "copyUrl", waits: Waits): Promise<void> {
        switch (what) {
            case "code":
                return this.host.openCode(waits);
            case "reveal":
                return this.host.reveal(waits);
            case "copyUrl":
                return isElicitation(waits) && waits.url !== undefined ? this.host.copy(waits.url) : undefined;
            case "edit":
                return isElicitation(waits) ? undefined : this.edit(waits);
        }
    }

    private async openPage({ elicitationId, url }: Elicitation): Promise<void> {
        if (url === undefined) throw new Error("there is no page to open");
        if (!(await this.host.openPage(url))) throw new Error("the page was not opened, and the question still waits");
        await this.host.waiting.elicitations.respond({ elicitationId, action: "accept" });
    }

    private async edit(approval: Approval): Promise<void> {
        if (approval.editText === undefined) throw new Error("this cannot be edited");
        const schema = await this.host.schemaOf(approval);
        this.post({ type: "editor", id: approval.approvalId, text: approval.editText, outline: schema ? outlineOf(schema) : [] });
    }

    /** A disposed webview refuses every access. */
    private post(message: ToPage): void {
        if (!this.isDisposed) this.frame.post(message);
    }
}
