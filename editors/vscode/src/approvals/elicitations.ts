// `Elicitations` is the list of what tool servers ask a user, or need before they start.

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

/** Without a tool it is for the inputs of the server's configuration, or a Jupyter server's token. */
export const titleOfElicitation = ({ server, tool }: Pick<Elicitation, "server" | "tool">) =>
    `${escapeUnprintable(server)} ${tool === undefined ? "needs something from you" : "asks you"}`;

/** How it ended, for a user. */
export function endText({ how, here }: { how: Pick<ElicitationResolvedParams, "action" | "by">; here: boolean }): string {
    if (how.by === "cancelled") return "withdrawn: the call has ended";
    const verdict = { accept: "answered", decline: "declined", cancel: "closed without an answer" }[how.action];
    return here ? `${verdict} here` : `${verdict} by a user in another window or editor`;
}
