// These functions describe sessions to the user.

import type { Session } from "../sessions";
import { label } from "../text";

export function ownerOf({ agent }: Pick<Session, "agent">): string {
    return agent === undefined ? "you" : `agent ${label(agent, 60)}`;
}

export function statusOf({ status, reason, queueLength }: Pick<Session, "status" | "reason" | "queueLength">): string {
    const waiting = queueLength > 0 ? `, ${queueLength} waiting` : "";
    return `${status}${waiting}${reason ? `: ${label(reason)}` : ""}`;
}

/** What everybody who looks should know of a session that a whole sandbox does not hold. */
export function weaknessOf({ sandbox }: Pick<Session, "sandbox">): { short: string; long: string } | undefined {
    if (sandbox === "none") return { short: "unsandboxed", long: "Without a sandbox: its code can do all that you can." };
    if (sandbox === "landlock") {
        return { short: "weaker sandbox", long: "In the weaker sandbox, without namespaces and without a network." };
    }
    return undefined;
}

export function iconOf({ status }: Pick<Session, "status">): string {
    return { starting: "sync~spin", restarting: "sync~spin", busy: "sync~spin", idle: "circle-filled", dead: "error" }[status];
}
