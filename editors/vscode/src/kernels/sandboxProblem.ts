// `sandboxProblemOf` says why a machine has no sandbox, shorter than the error does: the ways without it, with which its
// hint ends, are buttons of the dialog.

import { hintOf, messageOf } from "../client/errors";
import { brief, firstLine } from "../text";

export interface SandboxProblem {
    readonly problem: string;
    readonly fix: string;
    /** The command of the fix, where it is one; else the fix. */
    readonly copied: string;
}

export function sandboxProblemOf(error: unknown): SandboxProblem {
    const fix = hintOf(error).split(" Yours alone to choose:")[0] ?? "";
    const quoted = [...fix.matchAll(/`([^`]+)`/g)].map(([, text = ""]) => text);
    const [command = "", ...others] = quoted.filter((text) => text.includes(" "));
    const isFix = command.startsWith("sudo ") && others.length === 0;
    return { problem: brief(withReason(firstLine(messageOf(error))), 160), fix, copied: isFix ? command : fix };
}

/** Without what was tried, which would leave no room for what the program answered. */
function withReason(problem: string): string {
    return problem.replace(/: tried `.*?; it said: (.*)$/, (_, said: string) => (said === "nothing" ? "" : `: ${said}`));
}
