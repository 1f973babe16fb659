// These functions place what a checker found in code: it counts lines and code points of the code that it was given, the
// editor counts lines of the document and UTF-16 units.

import type { Diagnostic, TextEdit } from "../protocol/messages";
import { label } from "../text";

export interface Position {
    readonly line: number;
    readonly character: number;
}

/** `end` is exclusive. */
export interface Span {
    readonly start: Position;
    readonly end: Position;
}

/** `lines`: of the document. `firstLine`: where the code begins in it. What is beyond the text is at its end. */
export function positionIn(lines: readonly string[], firstLine: number, line: number, column: number): Position {
    const text = lines[firstLine + line];
    if (text === undefined) return { line: Math.max(0, lines.length - 1), character: lines.at(-1)?.length ?? 0 };
    return { line: firstLine + line, character: Array.from(text).slice(0, column).join("").length };
}

export function spanIn(lines: readonly string[], firstLine: number, place: Pick<TextEdit, "line" | "column" | "endLine" | "endColumn">): Span {
    return {
        start: positionIn(lines, firstLine, place.line, place.column),
        end: positionIn(lines, firstLine, place.endLine, place.endColumn),
    };
}

/** What a quick fix is called that makes these edits. */
export function titleOfEdits({ message, edits = [] }: Diagnostic): string {
    const [edit, ...others] = edits;
    if (!edit || others.length > 0) return `Fix: ${label(message, 80)}`;
    const text = label(edit.newText.trim(), 60);
    if (text === "") return "Remove it";
    const isInsertion = edit.line === edit.endLine && edit.column === edit.endColumn;
    return isInsertion ? `Insert ${text}` : `Replace with ${text}`;
}
