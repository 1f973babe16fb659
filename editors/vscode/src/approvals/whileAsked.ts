// `whileAsked` follows the question about a user's own command: it says that the question waits, and a user's no
// is no error.

import { kindOf } from "../client/errors";
import type { Action } from "../protocol/messages";
import type { Pending } from "./pending";

export interface Asked {
    /** Of the command's own. */
    readonly isIts: (action: Action) => boolean;
    readonly report: (message: string) => void;
    readonly denied: () => void;
}

/** What `work` resolves with; undefined, after `denied`, where a user said no. */
export async function whileAsked<T>(approvals: Pick<Pending, "all" | "onDidChange" | "onDidEnd">, asked: Asked, work: () => PromiseLike<T>): Promise<T | undefined> {
    const seen = { waits: false, isDenied: false };
    const subscriptions = [
        approvals.onDidChange(() => {
            const now = approvals.all().some(({ action }) => asked.isIts(action));
            if (now !== seen.waits) asked.report(now ? "waits for your answer in Approvals" : "goes on");
            seen.waits = now;
        }),
        approvals.onDidEnd(({ item, how }) => {
            if (asked.isIts(item.action)) seen.isDenied = how.decision === "deny" && how.by === "user";
        }),
    ];
    try {
        return await work();
    } catch (error) {
        if (!seen.isDenied || kindOf(error) !== "denied") throw error;
        asked.denied();
        return undefined;
    } finally {
        for (const subscription of subscriptions) subscription.dispose();
    }
}
