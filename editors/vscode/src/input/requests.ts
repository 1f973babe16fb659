// `InputRequests` is the queue of requests for standard input, one of which is shown at a time. A request whose box was
// closed by another input of the editor is not answered by that: it waits, with those behind it, until the user returns
// to it. Only the user ends the code's input.

import { Emitter, type CancellationToken, type Disposable, type Event } from "vscode-jsonrpc/node";

export interface InputRequest {
    /** Whose code asks, for a user. */
    readonly where: string;
    readonly prompt: string;
    readonly password: boolean;
}

/** How showing a request ended. `displaced`: by something else; what was typed until then is kept. */
export type Outcome = { readonly value: string } | "endOfInput" | { readonly displaced: string };

/** A request that is shown. */
export interface Box {
    readonly outcome: Promise<Outcome>;
    close(): void;
}

interface PendingInput {
    readonly request: InputRequest;
    typed: string;
    readonly answer: (value: string) => void;
    readonly reject: (reason: Error) => void;
}

export class InputRequests implements Disposable {
    private readonly waiting: PendingInput[] = [];
    private shown: { readonly pending: PendingInput; readonly box: Box } | undefined;
    private isDisplaced = false;
    private readonly changed = new Emitter<void>();
    readonly onDidChange: Event<void> = this.changed.event;

    constructor(private readonly show: (request: InputRequest, typed: string) => Box) {}

    dispose(): void {
        this.rejectAll();
        this.changed.dispose();
    }

    /** Resolves with the line that was typed; rejects at the end of input. */
    ask(request: InputRequest, token: CancellationToken): Promise<string> {
        return new Promise((resolve, reject) => {
            const waiting: PendingInput = { request, typed: "", answer: resolve, reject: reject };
            this.waiting.push(waiting);
            token.onCancellationRequested(() => {
                reject(new Error("the code does not ask any more"));
                this.remove(waiting);
            });
            this.showNext();
        });
    }

    /** The first request that waits without a box, and how many wait. */
    unseen(): { first: InputRequest; count: number } | undefined {
        const [first] = this.waiting;
        return first && !this.shown ? { first: first.request, count: this.waiting.length } : undefined;
    }

    get isShown(): boolean {
        return this.shown !== undefined;
    }

    /** A user comes back to what waits. */
    resume(): void {
        this.isDisplaced = false;
        this.showNext();
    }

    /** A user's word on the first of those that wait unseen. */
    endFirst(): void {
        const [first] = this.waiting;
        if (!first || this.shown) return;
        first.reject(new Error("the user ended the input"));
        this.remove(first);
    }

    /** The connection ended: no request can be answered any more. */
    rejectAll(): void {
        const all = this.waiting.splice(0);
        this.shown?.box.close();
        this.shown = undefined;
        this.isDisplaced = false;
        for (const { reject } of all) reject(new Error("the connection has ended"));
        this.changed.fire();
    }

    private showNext(): void {
        const [pending] = this.waiting;
        if (pending && !this.shown && !this.isDisplaced) {
            const box = this.show(pending.request, pending.typed);
            this.shown = { pending, box };
            void box.outcome.then((outcome) => this.end(pending, outcome));
        }
        this.changed.fire();
    }

    private end(pending: PendingInput, outcome: Outcome): void {
        if (this.shown?.pending !== pending) return;
        this.shown = undefined;
        if (outcome === "endOfInput") {
            pending.reject(new Error("the user ended the input"));
            this.remove(pending);
        } else if ("value" in outcome) {
            pending.answer(outcome.value);
            this.remove(pending);
        } else {
            pending.typed = outcome.displaced;
            this.isDisplaced = true;
            this.changed.fire();
        }
    }

    private remove(which: PendingInput): void {
        const index = this.waiting.indexOf(which);
        if (index < 0) return;
        this.waiting.splice(index, 1);
        if (this.shown?.pending === which) {
            this.shown.box.close();
            this.shown = undefined;
        }
        // Once the displaced request is gone, the next one can be shown.
        if (index === 0) this.isDisplaced = false;
        this.showNext();
    }
}
