// These functions turn a call's arguments into text that the user edits, and check that text before the sidecar does.

import { parseExact, formatExact, duplicateName, type Exact } from "../exactJson";
import { escapeUnprintable } from "../text";

/** Arguments, as they were written, as text with what cannot be seen in their strings written as \u. */
export function editText(args: Exact): string {
    return formatExact(args)
        .split("\n")
        .map((line) => Array.from(line, (character) => (escapeUnprintable(character) === character ? character : escaped(character))).join(""))
        .join("\n");
}

const escaped = (character: string) =>
    Array.from({ length: character.length }, (_, index) => character.charCodeAt(index))
        .map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`)
        .join("");

/**
 * An Error says why the text is no arguments at all: what is sent is the text itself. Whether they fit the tool cellgate
 * judges, which says so when it refuses them.
 */
export function checkEdited(text: string): void {
    let value: unknown;
    try {
        value = JSON.parse(text);
    } catch (error) {
        throw new Error(`not JSON: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
    }
    if (typeof value !== "object" || value === null || Array.isArray(value)) throw new Error("expected an object of arguments: { … }");
    const name = duplicateName(parseExact(text));
    if (name !== undefined) throw new Error(`the name ${escapeUnprintable(name)} is given twice`);
}
