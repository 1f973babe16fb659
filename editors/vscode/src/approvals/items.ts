// `itemOf` and `elicitationItemOf` make the items that the page shows.

import type { Approval, Elicitation, Hints } from "../protocol/messages";
import type { Execution } from "../executions";
import { escapeLines, escapeUnprintable } from "../text";
import { keyOf } from "./answer";
import { titleOfElicitation } from "./elicitations";
import type { ApprovalItem, ElicitationItem } from "./messages";

/** What is known here of the line that makes a call. */
export interface Source {
    /** Such as `plan.py:12`. */
    readonly place: string;
    /** It differs from what ran. */
    readonly changed: boolean;
}

export function itemOf(approval: Approval, execution: Execution | undefined, cell: string | undefined, source: Source | undefined): ApprovalItem {
    const { approvalId, hints, display, definitionChanges, editText, choices } = approval;
    return {
        id: approvalId,
        card: cardOf(approvalId, approval, execution, cell),
        group: groupOf(approval),
        display,
        changes: definitionChanges ?? [],
        source: sourceView(approval, source),
        hints: hintLines(hints),
        options: choices.map((choice) => ({ key: keyOf(choice), label: choice.label, wide: choice.rule !== undefined })),
        editable: editText !== undefined,
    };
}

/** An approval's id and an elicitation's may be the same. */
export const pageIdOf = (elicitationId: string) => `elicitation ${elicitationId}`;

export function elicitationItemOf(elicitation: Elicitation, execution: Execution | undefined, cell: string | undefined, source: Source | undefined): ElicitationItem {
    const { elicitationId, tool, message, mode, fields, url, host } = elicitation;
    const id = pageIdOf(elicitationId);
    return {
        id,
        card: cardOf(id, elicitation, execution, cell),
        group: id,
        source: sourceView(elicitation, source),
        elicitation: {
            title: titleOfElicitation(elicitation),
            ...(tool === undefined ? {} : { tool: escapeUnprintable(tool) }),
            message: escapeLines(message),
            ...(mode === "form" ? { fields: fields ?? [] } : { page: { url: escapeUnprintable(url ?? ""), host: escapeUnprintable(host ?? "") } }),
        },
    };
}

function sourceView({ origin }: Pick<Approval, "origin">, source: Source | undefined): ApprovalItem["source"] {
    return (
        origin && {
            place: source?.place ?? `line ${origin.line + 1} of the code`,
            text: origin.text,
            changed: source?.changed ?? false,
            link: source !== undefined,
        }
    );
}

type Caller = Pick<Approval, "sessionId" | "executionId" | "agent"> & Partial<Pick<Approval, "action">>;

function cardOf(id: string, { action, sessionId, executionId, agent }: Caller, execution: Execution | undefined, cell: string | undefined): ApprovalItem["card"] {
    const by = agent === undefined ? undefined : escapeUnprintable(agent);
    if (executionId !== undefined) {
        const title = cell ?? (execution ? "code" : "a cell");
        return { key: `execution ${executionId}`, title: `${title} in ${escapeUnprintable(sessionId ?? "")}`, agent: by, code: cell === undefined };
    }
    if (sessionId !== undefined && action?.kind === "install") {
        return { key: `approval ${id}`, title: `for ${escapeUnprintable(sessionId)}`, agent: by, code: false };
    }
    if (sessionId !== undefined) {
        return { key: `session ${sessionId}`, title: `code left running in ${escapeUnprintable(sessionId)}`, agent: by, code: false };
    }
    return { key: `approval ${id}`, title: "cellgate", agent: by, code: false };
}

/** Calls share a block when they are of the same definition of one tool, changed in the same way, for the same agent or user, confirmed in the same way. */
function groupOf({ approvalId, action, definitionChanges, agent, confirm }: Approval): string {
    const { kind, server, tool, serverIdentity, toolIdentity } = action;
    if (action.argumentsText === undefined) return approvalId;
    return JSON.stringify([kind, server, tool, serverIdentity, toolIdentity, definitionChanges, agent, confirm]);
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
