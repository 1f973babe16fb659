// `Waiting` is everything that waits for a user's answer: calls that need an approval, and questions of tool servers.

import { Emitter, type Disposable, type Event } from "vscode-jsonrpc/node";
import type { Sidecar } from "../client/sidecar";
import type { Approval, Elicitation } from "../protocol/messages";
import { Elicitations } from "./elicitations";
import { Pending } from "./pending";

export type Waits = Approval | Elicitation;

export class Waiting implements Disposable {
    private readonly changed = new Emitter<void>();
    readonly onDidChange: Event<void> = this.changed.event;
    readonly approvals: Pending;
    readonly elicitations: Elicitations;

    constructor(sidecar: Pick<Sidecar, "request" | "onNotification" | "onDidChangeState">) {
        this.approvals = new Pending(sidecar);
        this.elicitations = new Elicitations(sidecar);
        const fire = () => {
            this.changed.fire();
        };
        this.approvals.onDidChange(fire);
        this.elicitations.onDidChange(fire);
    }

    dispose(): void {
        this.approvals.dispose();
        this.elicitations.dispose();
        this.changed.dispose();
    }

    /** In the order in which they came. */
    all(): Waits[] {
        // Both times are the sidecar's, as RFC 3339 in UTC; the sort is stable.
        const inOrder = (a: { createdAt: string }, b: { createdAt: string }) => Date.parse(a.createdAt) - Date.parse(b.createdAt);
        return [...this.approvals.all(), ...this.elicitations.all()].sort(inOrder);
    }

    get count(): number {
        return this.approvals.all().length + this.elicitations.all().length;
    }

    /** For a user. */
    get text(): string {
        return waitingText(this.approvals.all().length, this.elicitations.all().length);
    }
}

const counted = (count: number, noun: string) => `${count} ${noun}${count === 1 ? "" : "s"}`;

export function waitingText(calls: number, questions: number): string {
    return `${waitText(calls, questions)} for your answer`;
}

/** "1 call and 2 questions wait" */
export function waitText(calls: number, questions: number): string {
    const parts = [...(calls > 0 || questions === 0 ? [counted(calls, "call")] : []), ...(questions > 0 ? [counted(questions, "question")] : [])];
    return `${parts.join(" and ")} ${calls + questions === 1 ? "waits" : "wait"}`;
}
