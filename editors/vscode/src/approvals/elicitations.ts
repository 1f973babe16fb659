// `Elicitations` is the list of questions of tool servers that wait for a user.

import type { Sidecar } from "../client/sidecar";
import type { Approval, Elicitation, ElicitationResolvedParams, ElicitationRespondParams } from "../protocol/messages";
import { escapeUnprintable } from "../text";
import { WaitingList } from "./waitingList";

export class Elicitations extends WaitingList<"elicitation/requested", "elicitation/resolved"> {
    constructor(private readonly sidecar: Pick<Sidecar, "request" | "onNotification" | "onDidChangeState">) {
        super(sidecar, "elicitation/requested", "elicitation/resolved", ({ elicitationId }) => elicitationId);
    }

    async respond(params: ElicitationRespondParams): Promise<void> {
        await this.answer([params.elicitationId], () => this.sidecar.request("elicitation/respond", params));
    }
}

export const isElicitation = (waits: Approval | Elicitation): waits is Elicitation => "elicitationId" in waits;

export const titleOfElicitation = ({ server }: Pick<Elicitation, "server">) => `${escapeUnprintable(server)} asks you`;

/** How it ended, for a user. */
export function endText({ how, here }: { how: Pick<ElicitationResolvedParams, "action" | "by">; here: boolean }): string {
    if (how.by === "cancelled") return "withdrawn: the call has ended";
    const verdict = { accept: "answered", decline: "declined", cancel: "closed without an answer" }[how.action];
    return here ? `${verdict} here` : `${verdict} by a user in another window or editor`;
}
