// `replyOf` validates a message of the page and turns it into the answer to an elicitation. As with approvals, it counts
// only with the nonce of the last items that the page was sent, and for one of these.

import type { Elicitation, ElicitationRespondParams } from "../protocol/messages";
import type { PageState } from "./answer";
import type { FromPage } from "./messages";

/** What a message that calls itself a reply may hold. */
type Claims = { [Name in keyof Extract<FromPage, { type: "reply" }>]?: unknown };

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);

type Shown = Pick<PageState, "nonce" | "elicitations">;

/** The elicitation that a message of the page answers. */
export function askedOf(claims: Pick<Claims, "nonce" | "id">, shown: Shown): Elicitation {
    if (claims.nonce !== shown.nonce) throw new Error("what waits changed while you answered: look at it again");
    const asked = typeof claims.id === "string" ? shown.elicitations.get(claims.id) : undefined;
    if (!asked) throw new Error("a question that is not shown was answered");
    return asked;
}

export function replyOf(claims: Claims, shown: Shown): ElicitationRespondParams {
    const { elicitationId, mode } = askedOf(claims, shown);
    const { action, values } = claims;
    if (action === "decline" || action === "cancel") return { elicitationId, action };
    if (action !== "accept") throw new Error("neither yes nor no was answered");
    // A page is accepted by opening it.
    if (mode !== "form") throw new Error("the page was not opened");
    if (!isObject(values)) throw new Error("a form was answered without values");
    return { elicitationId, action, values };
}
