// `Pending` is the list of actions that wait for a user, from the sidecar's notifications. It is emptied when the
// connection ends: the sidecar notifies the next connection of everything that still waits.

import { Emitter, type Disposable, type Event } from "vscode-jsonrpc/node";
import type { Sidecar } from "../client/sidecar";
import type { Approval, ApprovalResolvedParams, ApprovalRespondParams } from "../protocol/messages";

/** An approval that was decided while this window watched. */
export interface Decided {
    readonly approval: Approval;
    readonly how: ApprovalResolvedParams;
    /** Whether this window's own answer did it. */
    readonly here: boolean;
}

export class Pending implements Disposable {
    private readonly waiting = new Map<string, Approval>();
    private readonly answered = new Set<string>();
    private readonly changed = new Emitter<void>();
    private readonly decisions = new Emitter<Decided>();
    /** What waits is no longer what it was. */
    readonly onDidChange: Event<void> = this.changed.event;
    readonly onDidDecide: Event<Decided> = this.decisions.event;
    private readonly subscriptions: Disposable[];

    constructor(private readonly sidecar: Pick<Sidecar, "request" | "onNotification" | "onDidChangeState">) {
        this.subscriptions = [
            sidecar.onNotification("approval/requested", (approval) => {
                this.waiting.set(approval.approvalId, approval);
                this.changed.fire();
            }),
            sidecar.onNotification("approval/resolved", (how) => this.decide(how)),
            sidecar.onDidChangeState(({ kind }) => {
                if (kind === "connected" || this.waiting.size === 0) return;
                this.waiting.clear();
                this.changed.fire();
            }),
        ];
    }

    dispose(): void {
        for (const subscription of this.subscriptions) subscription.dispose();
        this.changed.dispose();
        this.decisions.dispose();
    }

    /** Oldest first. */
    all(): Approval[] {
        return [...this.waiting.values()];
    }

    get(id: string): Approval | undefined {
        return this.waiting.get(id);
    }

    async respond(params: ApprovalRespondParams): Promise<void> {
        for (const id of params.approvalIds) this.answered.add(id);
        try {
            await this.sidecar.request("approval/respond", params);
        } catch (error) {
            for (const id of params.approvalIds) this.answered.delete(id);
            throw error;
        }
    }

    private decide(how: ApprovalResolvedParams): void {
        const approval = this.waiting.get(how.approvalId);
        const here = this.answered.delete(how.approvalId) && how.by === "user";
        if (!approval) return;
        this.waiting.delete(how.approvalId);
        this.decisions.fire({ approval, how, here });
        this.changed.fire();
    }
}

export const waitingText = (count: number) => (count === 1 ? "1 call waits for your answer" : `${count} calls wait for your answer`);

/** How it was decided, for a user. */
export function decisionText({ how, here }: { how: Pick<ApprovalResolvedParams, "decision" | "by">; here: boolean }): string {
    const verdict = how.decision === "allow" ? "allowed" : "denied";
    switch (how.by) {
        case "user":
            return here ? `${verdict} here` : `${verdict} by a user in another window or editor`;
        case "rule":
            return `${verdict} by a rule that an answer made`;
        case "cancelled":
            return "withdrawn: the call was given up";
        case "noClient":
            return "denied: no user was connected";
        case "elicitation":
            return `${verdict} at the agent's own program`;
    }
}
