// `Remedy` is what can be done about a note, which reports something that was refused to a cell: a rule for the session,
// or a restart of its kernel with more in the sandbox. It is described in full before the user confirms it. An install
// is confirmed in the approvals view, where its exact command is shown.

import type { Note, SandboxAdditions } from "../../protocol/messages";
import { ruleText } from "../../rules/labels";
import { escapeUnprintable } from "../../text";
import type { RemedyKind } from "../messages";

export interface Remedy {
    readonly question: string;
    /** What the note reports, and what exactly will change. */
    readonly detail: string;
    /** The button that confirms it. */
    readonly action: string;
}

/** Which remedy a note offers; undefined of a note that is advice only. */
export function remedyKind({ rule, sandbox, install, wrappers }: Note): RemedyKind | undefined {
    if (rule) return "rule";
    if (install) return "install";
    if (sandbox) return "restart";
    return wrappers === undefined ? undefined : "wrappers";
}

export function describeRemedy(note: Note, sessionId: string): Remedy | undefined {
    const { text, remedy, rule, sandbox } = note;
    const session = escapeUnprintable(sessionId);
    const described = (changes: string[]) => [text, remedy, "", ...changes].map(escapeUnprintable).join("\n");
    if (rule) {
        const expires = rule.expiresAt === undefined ? "" : `, and not after ${rule.expiresAt}`;
        return {
            question: `Add a rule to the session ${session}?`,
            detail: described([`The rule: ${rule.effect} ${ruleText(rule)}`, `It ends with the session${expires}.`]),
            action: "Add Rule",
        };
    }
    if (!sandbox) return undefined;
    return {
        question: `Restart the kernel of ${session} with more in its sandbox?`,
        detail: described([...sandboxLines(sandbox), "The kernel's variables are gone then, and queued cells are cancelled."]),
        action: "Restart Kernel",
    };
}

function sandboxLines({ allowRead = [], allowWrite = [], gpu }: SandboxAdditions): string[] {
    return [
        ...allowRead.map((path) => `Can be read: ${path}`),
        ...allowWrite.map((path) => `Can be read and written: ${path}`),
        ...(gpu ? ["Can be used: the graphics cards"] : []),
    ];
}
