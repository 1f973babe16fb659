// These functions convert positions in code: the editor counts UTF-16 units, Jupyter counts code points.

import type { Cell } from "../cells/cells";
import { cellAt, cellsOf } from "../cells/cells";

export interface CodePosition {
    /** The code of the cell, or of the whole text where there are none. */
    readonly code: string;
    /** Where in it, in code points. */
    readonly cursorPos: number;
    /** The line of the document at which the code begins. */
    readonly firstLine: number;
    /** That its cell names. */
    readonly language?: string;
}

export interface Position {
    readonly line: number;
    readonly character: number;
}

/** Undefined where no code is, such as on the line that begins a cell. */
export function codePositionAt(lines: readonly string[], { line, character }: Position): CodePosition | undefined {
    const cells = cellsOf(lines);
    const whole: Cell = { line: 0, codeLine: 0, lastLine: lines.length - 1, kind: "code" };
    const cell = cells.length > 0 ? cellAt(cells, line) : whole;
    if (cell?.kind !== "code" || line < cell.codeLine) return undefined;
    const before = [...lines.slice(cell.codeLine, line), (lines[line] ?? "").slice(0, character)].join("\n");
    return {
        code: lines.slice(cell.codeLine, cell.lastLine + 1).join("\n"),
        cursorPos: Array.from(before).length,
        firstLine: cell.codeLine,
        ...(cell.language === undefined ? {} : { language: cell.language }),
    };
}

/** The position in the document of a place in its code. */
export function documentPosition({ code, firstLine }: CodePosition, codePoints: number): Position {
    const before = Array.from(code).slice(0, codePoints).join("").split("\n");
    return { line: firstLine + before.length - 1, character: before.at(-1)?.length ?? 0 };
}

/** A markdown block that shows the text as it is, whatever is in it. */
export function literalBlock(text: string): string {
    const longest = Math.max(0, ...(text.match(/`+/g) ?? []).map((run) => run.length));
    const fence = "`".repeat(Math.max(3, longest + 1));
    return `${fence}text\n${text}\n${fence}`;
}
