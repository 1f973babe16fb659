// `confirmationOf` is what the chat shows before it asks whether a call may be made: for code, all of it.

import { literalBlock } from "../kernelAssist/codePosition";
import { escapeUnprintable } from "../text";

export interface Confirmation {
    readonly doing: string;
    readonly title: string;
    /** Markdown, in which nothing of the input is more than text. */
    readonly message: string;
}

const escapeLines = (text: string) => text.split(/\r\n|\r|\n/).map((line) => line.replace(/[^\t]+/g, escapeUnprintable)).join("\n");

export function confirmationOf(tool: string, displayName: string, input: object): Confirmation {
    const { code, session, ...rest } = input as { code?: unknown; session?: unknown };
    if (tool !== "execute" || typeof code !== "string") {
        const given = Object.keys(input).length > 0 ? literalBlock(escapeLines(JSON.stringify(input, null, 2))) : "It is given nothing.";
        return { doing: `${displayName} (cellgate)`, title: `${displayName}?`, message: given };
    }
    const whose = session === undefined ? "the agent's own kernel" : "the kernel of another session";
    const more = { ...rest, ...(session === undefined ? {} : { session }) };
    const settings = Object.keys(more).length > 0 ? `\n\n${literalBlock(escapeLines(JSON.stringify(more, null, 2)))}` : "";
    return { doing: "Running code in cellgate", title: `Run this code in ${whose}?`, message: `${literalBlock(escapeLines(code))}${settings}` };
}
