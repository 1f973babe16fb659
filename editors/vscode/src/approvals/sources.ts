// `sourceOf` finds the line that makes a call in its document now, and whether it changed since it ran.

import type { Anchors } from "../cells/anchors";
import type { Executions } from "../executions";
import type { Approval } from "../protocol/messages";
import { escapeUnprintable } from "../text";

/** A call, as far as it says where it comes from. */
export type Caller = Pick<Approval, "origin" | "executionId">;

export interface SourceLine {
    readonly uri: string;
    readonly line: number;
    /** It is not what ran, or cannot be found any more. */
    readonly changed: boolean;
}

/** `textAt`: a line of a document as it is now, empty beyond its end; undefined when the document is not open. */
export function sourceOf(
    { origin, executionId }: Caller,
    executions: Pick<Executions, "get">,
    anchors: Pick<Anchors, "lineNow">,
    textAt: (uri: string, line: number) => string | undefined,
): SourceLine | undefined {
    if (origin?.uri === undefined) return undefined;
    const { uri, text } = origin;
    const cell = executionId === undefined ? undefined : executions.get(executionId)?.cell;
    const followed = cell && executionId !== undefined ? anchors.lineNow(uri, executionId, origin.line - cell.line) : undefined;
    // Of a run that this window did not begin only the first line is followed.
    const line = followed ?? origin.line;
    const now = textAt(uri, line);
    return { uri, line, changed: now !== undefined && now !== text && escapeUnprintable(now) !== text };
}
