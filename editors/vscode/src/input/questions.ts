// What code reads from standard input, in the order in which it asked. One question is shown at a time. One that another
// input of the editor took away is not answered by that: it waits, and so do those behind it, until a person comes back
// to it. Only a person's word ends the code's input.

import { Emitter, type CancellationToken, type Disposable, type Event } from "vscode-jsonrpc/node";

export interface Question {
    /** Whose code asks, for a person. */
    readonly where: string;
    readonly prompt: string;
    readonly password: boolean;
}

/** How showing a question ended. `displaced`: by something else; what was typed until then is kept. */
export type Outcome = { readonly value: string } | "endOfInput" | { readonly displaced: string };

/** A question that is shown. */
export interface Box {
    readonly outcome: Promise<Outcome>;
    close(): void;
}

interface Waiting {
    readonly question: Question;
    typed: string;
    readonly answer: (value: string) => void;
    readonly refuse: (reason: Error) => void;
}

export class Questions implements Disposable {
    private readonly waiting: Waiting[] = [];
    private shown: { readonly whose: Waiting; readonly box: Box } | undefined;
    private isDisplaced = false;
    private readonly changed = new Emitter<void>();
    readonly onDidChange: Event<void> = this.changed.event;

    constructor(private readonly show: (question: Question, typed: string) => Box) {}

    dispose(): void {
        this.giveUp();
        this.changed.dispose();
    }

    /** Resolves with the line that was typed; rejects at the end of input. */
    ask(question: Question, token: CancellationToken): Promise<string> {
        return new Promise((resolve, reject) => {
            const waiting: Waiting = { question, typed: "", answer: resolve, refuse: reject };
            this.waiting.push(waiting);
            token.onCancellationRequested(() => {
                reject(new Error("the code does not ask any more"));
                this.remove(waiting);
            });
            this.showNext();
        });
    }

    /** The first of those that wait where nobody sees them, and how many there are. */
    unseen(): { first: Question; count: number } | undefined {
        const [first] = this.waiting;
        return first && !this.shown ? { first: first.question, count: this.waiting.length } : undefined;
    }

    get isShown(): boolean {
        return this.shown !== undefined;
    }

    /** A person comes back to what waits. */
    resume(): void {
        this.isDisplaced = false;
        this.showNext();
    }

    /** A person's word on the first of those that wait unseen. */
    endFirst(): void {
        const [first] = this.waiting;
        if (!first || this.shown) return;
        first.refuse(new Error("nobody typed anything"));
        this.remove(first);
    }

    /** Nobody listens to answers any more. */
    giveUp(): void {
        const all = this.waiting.splice(0);
        this.shown?.box.close();
        this.shown = undefined;
        this.isDisplaced = false;
        for (const { refuse } of all) refuse(new Error("the connection has ended"));
        this.changed.fire();
    }

    private showNext(): void {
        const [whose] = this.waiting;
        if (whose && !this.shown && !this.isDisplaced) {
            const box = this.show(whose.question, whose.typed);
            this.shown = { whose, box };
            void box.outcome.then((outcome) => this.end(whose, outcome));
        }
        this.changed.fire();
    }

    private end(whose: Waiting, outcome: Outcome): void {
        if (this.shown?.whose !== whose) return;
        this.shown = undefined;
        if (outcome === "endOfInput") {
            whose.refuse(new Error("nobody typed anything"));
            this.remove(whose);
        } else if ("value" in outcome) {
            whose.answer(outcome.value);
            this.remove(whose);
        } else {
            whose.typed = outcome.displaced;
            this.isDisplaced = true;
            this.changed.fire();
        }
    }

    private remove(which: Waiting): void {
        const index = this.waiting.indexOf(which);
        if (index < 0) return;
        this.waiting.splice(index, 1);
        if (this.shown?.whose === which) {
            this.shown.box.close();
            this.shown = undefined;
        }
        // With the one that was taken away, nothing stands in the way of the next.
        if (index === 0) this.isDisplaced = false;
        this.showNext();
    }
}
