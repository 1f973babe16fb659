// `answerOf` validates a message of the page and turns it into an answer. It is accepted only with the nonce of the
// last items that the page was sent, for items among these, and with an option that each of them offers. There is no
// other way to answer: no command and no other page knows the nonce.

import type { Approval, ApprovalRespondParams, Choice, Elicitation } from "../protocol/messages";
import { checkEdited } from "./edit";
import type { FromPage } from "./messages";

/** The items that the page shows, under the nonce that it was given with them. */
export interface PageState {
    readonly nonce: string;
    readonly approvals: ReadonlyMap<string, Approval>;
    readonly elicitations: ReadonlyMap<string, Elicitation>;
}

/** A choice's name: the same for the same answer to different items. */
export const keyOf = ({ scope, rule }: Choice) => JSON.stringify([scope, rule ?? null]);

/** What a message that calls itself an answer may hold. */
type Claims = { [Name in keyof Extract<FromPage, { type: "answer" }>]?: unknown };

const isStrings = (value: unknown): value is string[] =>
    Array.isArray(value) && value.length > 0 && value.every((each) => typeof each === "string");

export function answerOf(claims: Claims, { nonce, approvals }: Pick<PageState, "nonce" | "approvals">): ApprovalRespondParams {
    const { ids, decision, option, reason } = claims;
    if (claims.nonce !== nonce) throw new Error("what waits changed while you answered: look at it again");
    if (!isStrings(ids)) throw new Error("no call was answered");
    const asked = ids.map((id) => {
        const approval = approvals.get(id);
        if (!approval) throw new Error("a call that is not shown was answered");
        return approval;
    });
    if (decision === "deny") {
        const words = typeof reason === "string" ? reason.trim() : "";
        return { approvalIds: ids, decision, reason: words === "" ? undefined : words };
    }
    if (decision !== "allow") throw new Error("neither yes nor no was answered");
    if (typeof claims.arguments === "string") {
        if (asked.length !== 1) throw new Error("an edit answers one call");
        checkEdited(claims.arguments);
        return { approvalIds: ids, decision, argumentsText: claims.arguments };
    }
    const choices = asked.map((approval) => approval.choices.find((choice) => keyOf(choice) === option));
    const choice = choices[0];
    if (!choice || choices.includes(undefined)) throw new Error("an answer that is not offered was given");
    return { approvalIds: ids, decision, scope: choice.scope, rule: choice.rule };
}
