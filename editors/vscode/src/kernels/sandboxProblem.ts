// `sandboxProblemOf` says why a machine has no sandbox, shorter than the error does: the ways without it, with which its
// hint ends, are buttons of the dialog.

import { hintOf, messageOf } from "../client/errors";
import { brief, firstLine } from "../text";

export interface SandboxProblem {
    readonly problem: string;
    readonly fix: string;
    /** The command of the fix; of several, the fix with all of them. */
    readonly copied: string;
}

export function sandboxProblemOf(error: unknown): SandboxProblem {
    const fix = hintOf(error).split(" Yours alone to choose:")[0] ?? "";
    const quoted = [...fix.matchAll(/`([^`]+)`/g)].map(([, text = ""]) => text);
    const [command = fix, ...others] = quoted.filter((text) => text.includes(" "));
    const unquoted = (text: string) => text.replaceAll("`", "");
    return { problem: brief(unquoted(firstLine(messageOf(error))), 160), fix: unquoted(fix), copied: others.length === 0 ? command : fix };
}
