// What the chat shows of a call before it asks whether it may be made: for code, all of it.

import { literalBlock } from "../comforts/place";
import { visible } from "../text";

export interface Confirmation {
    readonly doing: string;
    readonly title: string;
    /** Markdown, in which nothing of the input is more than text. */
    readonly message: string;
}

const visibleLines = (text: string) => text.split(/\r\n|\r|\n/).map((line) => line.replace(/[^\t]+/g, visible)).join("\n");

export function confirmationOf(tool: string, displayName: string, input: object): Confirmation {
    const { code, session, ...rest } = input as { code?: unknown; session?: unknown };
    if (tool !== "execute" || typeof code !== "string") {
        const given = Object.keys(input).length > 0 ? literalBlock(visibleLines(JSON.stringify(input, null, 2))) : "It is given nothing.";
        return { doing: `${displayName} (cellgate)`, title: `${displayName}?`, message: given };
    }
    const whose = session === undefined ? "the agent's own kernel" : "the kernel of another session";
    const more = { ...rest, ...(session === undefined ? {} : { session }) };
    const settings = Object.keys(more).length > 0 ? `\n\n${literalBlock(visibleLines(JSON.stringify(more, null, 2)))}` : "";
    return { doing: "Running code in cellgate", title: `Run this code in ${whose}?`, message: `${literalBlock(visibleLines(code))}${settings}` };
}
