// `idleSession` is the session of a document whose kernel can answer requests: one that exists and runs nothing.

import type { Cellgate } from "../cellgate";
import { kindOf } from "../client/errors";

export function idleSession({ documents, sessions }: Cellgate, uri: string): string | undefined {
    const session = sessions.get(documents.sessionOf(uri));
    return session?.status === "idle" ? session.sessionId : undefined;
}

/** What a kernel that has begun to run something, or cannot tell, leaves unsaid. */
export async function undefinedIfBusy<T>(answer: Promise<T>): Promise<T | undefined> {
    try {
        return await answer;
    } catch (error) {
        // A fault of cellgate is no reason to have no completion, but one to be seen.
        if (kindOf(error) === "internalError") throw error;
        return undefined;
    }
}
