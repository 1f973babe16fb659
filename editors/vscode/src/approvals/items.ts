// `itemOf` makes the item that the page shows of an approval.

import type { Approval, Hints } from "../protocol/messages";
import type { Execution } from "../executions";
import { escapeUnprintable } from "../text";
import { keyOf } from "./answer";
import type { ApprovalItem } from "./messages";

/** What is known here of the line that makes a call. */
export interface Source {
    /** Such as `plan.py:12`. */
    readonly place: string;
    /** It differs from what ran. */
    readonly changed: boolean;
}

export function itemOf(approval: Approval, execution: Execution | undefined, cell: string | undefined, source: Source | undefined): ApprovalItem {
    const { approvalId, origin, hints, display, editText, choices } = approval;
    return {
        id: approvalId,
        card: cardOf(approval, execution, cell),
        group: groupOf(approval),
        display,
        source: origin && {
            place: source?.place ?? `line ${origin.line + 1} of the code`,
            text: origin.text,
            changed: source?.changed ?? false,
            link: source !== undefined,
        },
        hints: hintLines(hints),
        options: choices.map((choice) => ({ key: keyOf(choice), label: choice.label, wide: choice.rule !== undefined })),
        editable: editText !== undefined,
    };
}

function cardOf({ approvalId, sessionId, executionId, agent }: Approval, execution: Execution | undefined, cell: string | undefined): ApprovalItem["card"] {
    const by = agent === undefined ? undefined : escapeUnprintable(agent);
    if (executionId !== undefined) {
        const title = cell ?? (execution ? "code" : "a cell");
        return { key: `execution ${executionId}`, title: `${title} in ${escapeUnprintable(sessionId ?? "")}`, agent: by, code: cell === undefined };
    }
    if (sessionId !== undefined) {
        return { key: `session ${sessionId}`, title: `code left running in ${escapeUnprintable(sessionId)}`, agent: by, code: false };
    }
    return { key: `approval ${approvalId}`, title: "cellgate", agent: by, code: false };
}

/** Calls share a block when they are of the same definition of one tool, for the same agent or user. */
function groupOf({ approvalId, action, agent }: Approval): string {
    const { kind, server, tool, serverIdentity, toolIdentity } = action;
    if (action.argumentsText === undefined) return approvalId;
    return JSON.stringify([kind, server, tool, serverIdentity, toolIdentity, agent]);
}

function hintLines({ title, description, readOnlyHint, destructiveHint, idempotentHint, openWorldHint }: Hints): string[] {
    const words = [
        readOnlyHint === true && "only reads",
        readOnlyHint === false && "changes things",
        destructiveHint === true && "may destroy",
        destructiveHint === false && "destroys nothing",
        idempotentHint === true && "twice is as once",
        openWorldHint === true && "reaches the outside world",
        openWorldHint === false && "stays in its own world",
    ].filter((word) => word !== false);
    return [title, words.join(", "), ...(description?.split("\n") ?? [])].filter((line) => line !== undefined && line !== "") as string[];
}
