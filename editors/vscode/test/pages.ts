// `pages` is a sidecar that decides what is answered, and any number of approvals pages.

import assert from "node:assert/strict";
import { CancellationTokenSource, Emitter, type CancellationToken } from "vscode-jsonrpc/node";
import { isElicitation } from "../src/approvals/elicitations";
import { elicitationItemOf, itemOf } from "../src/approvals/items";
import type { ToPage } from "../src/approvals/messages";
import { PageConnection } from "../src/approvals/pageConnection";
import type { ViewHost } from "../src/approvals/viewHost";
import { Waiting } from "../src/approvals/waiting";
import type { Approval, ApprovalRespondParams, Elicitation, ElicitationRespondParams } from "../src/protocol/messages";
import { approvalOf } from "./approval";
import { questionOf } from "./elicitation";

export function pages() {
    const handlers = new Map<string, (params: never) => void>();
    const answers: ApprovalRespondParams[] = [];
    const replies: ElicitationRespondParams[] = [];
    const opened: string[] = [];
    const copied: string[] = [];
    const key = keyThatCounts();
    let refusal: Error | undefined;
    const notify = (method: string, params: object) => handlers.get(method)?.(params as never);
    const sidecar = {
        onNotification: (method: string, handler: (params: never) => void) => {
            handlers.set(method, handler);
            return { dispose: () => undefined };
        },
        onDidChangeState: new Emitter<never>().event,
        request: (method: string, params: unknown, token?: CancellationToken) => {
            key.hear(token);
            if (refusal) return Promise.reject(refusal);
            if (method === "approval/respond") respond(params as ApprovalRespondParams);
            else reply(params as ElicitationRespondParams);
            return Promise.resolve({});
        },
    };
    function respond(params: ApprovalRespondParams): void {
        answers.push(params);
        for (const approvalId of params.approvalIds) notify("approval/resolved", { approvalId, decision: params.decision, by: "user" });
    }
    function reply(params: ElicitationRespondParams): void {
        replies.push(params);
        notify("elicitation/resolved", { elicitationId: params.elicitationId, action: params.action, by: "user" });
    }
    const waiting = new Waiting(sidecar);
    let mayOpen = true;
    const host = hostOf(waiting, opened, copied, () => mayOpen, key.touch);
    return {
        waiting,
        host,
        answers,
        replies,
        opened,
        copied,
        touched: key.touched,
        /** From now on the sidecar refuses every answer. */
        refuse: (error: Error | undefined) => (refusal = error),
        /** Whether the user lets pages be opened. */
        letOpen: (may: boolean) => (mayOpen = may),
        notify,
        ask: (id: string, more?: Partial<Approval>) => notify("approval/requested", approvalOf(id, `data/${id}`, more)),
        question: (id: string, more?: Partial<Elicitation>) => notify("elicitation/requested", questionOf(id, more)),
        page: () => pageOf(host),
    };
}

function hostOf(waiting: Waiting, opened: string[], copied: string[], mayOpen: () => boolean, touch: ViewHost["touch"]): ViewHost {
    return {
        waiting,
        item: (waits) => (isElicitation(waits) ? elicitationItemOf(waits, undefined, undefined, undefined) : itemOf(waits, undefined, undefined, undefined)),
        schemaOf: () => Promise.resolve(undefined),
        reveal: () => Promise.resolve(),
        openCode: () => Promise.resolve(),
        openPage: (url) => Promise.resolve(mayOpen() && opened.push(url) > 0),
        copy: (text) => Promise.resolve(void copied.push(text)),
        touch,
        openEditor: () => Promise.resolve(void opened.push("editor")),
        connected: () => true,
    };
}

function keyThatCounts() {
    const giveUp = new CancellationTokenSource();
    let touches = 0;
    let requests = 0;
    return {
        touch: (work: (token: CancellationToken) => Promise<void>) => {
            touches++;
            return work(giveUp.token);
        },
        hear: (token: CancellationToken | undefined) => (requests += token === giveUp.token ? 1 : 0),
        /** How often the user was asked to touch the key, and how many requests giving that up cancels. */
        touched: () => [touches, requests],
    };
}

function pageOf(host: ViewHost) {
    const received: ToPage[] = [];
    const connection = new PageConnection(host, { visible: true, post: (message) => received.push(message) });
    return {
        connection,
        received,
        /** The last list of what waits. */
        get last() {
            const last = received.findLast((message) => message.type === "waiting");
            assert.ok(last);
            return last;
        },
    };
}
