// `copyNames` is what a user types and reads when a variable is copied to another session.

import type { SessionTransferResult } from "../protocol/messages";
import { isName } from "../secrets/labels";
import type { Session } from "../sessions";
import { bytesText } from "../sessionViews/figures";
import { ownerOf, statusOf } from "../sessionViews/labels";
import { label } from "../text";

export function nameProblem(text: string): string | undefined {
    return isName(text) ? undefined : "Expected a name of letters, digits and underscores";
}

/** The sessions that can get a variable of `from`. */
export function targetsOf(sessions: readonly Session[], from: string) {
    return sessions
        .filter(({ sessionId, status }) => sessionId !== from && status !== "dead")
        .map((session) => ({
            label: label(session.sessionId),
            description: `${label(session.kernel.language, 60)}, ${ownerOf(session)}, ${statusOf(session)}`,
            sessionId: session.sessionId,
        }));
}

export function copiedText(name: string, to: string, { type, bytes }: SessionTransferResult): string {
    return `${name} was copied to ${label(to)}: ${label(type, 60)}, ${bytesText(bytes)}.`;
}
