// `Pending` is the list of actions that wait for a user's approval.

import type { CancellationToken } from "vscode-jsonrpc/node";
import type { Sidecar } from "../client/sidecar";
import type { ApprovalResolvedParams, ApprovalRespondParams } from "../protocol/messages";
import { WaitingList } from "./waitingList";

export class Pending extends WaitingList<"approval/requested", "approval/resolved"> {
    constructor(private readonly sidecar: Pick<Sidecar, "request" | "onNotification" | "onDidChangeState">) {
        super(sidecar, "approval/requested", "approval/resolved", ({ approvalId }) => approvalId);
    }

    async respond(params: ApprovalRespondParams, token?: CancellationToken): Promise<void> {
        await this.answer(params.approvalIds, () => this.sidecar.request("approval/respond", params, token));
    }

    /** Whether a security key has to confirm this answer. */
    needsTouch({ decision, approvalIds }: ApprovalRespondParams): boolean {
        return decision === "allow" && approvalIds.some((id) => this.get(id)?.confirm === "touch");
    }
}

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
            return "not allowed, no user was there"; // the program that asked may ask its own user
        case "elicitation":
            return `${verdict} at the agent's own program`;
    }
}
