// `cellsOf` finds the cells of a text: a line such as `# %%` or `// %%` begins one, and it ends before the next. Code before the
// first such line is a cell too. A text without such lines has no cells.

import { languageOfMarker } from "./languages";

export interface Cell {
    /** The line that begins it; of the part before the first, the text's first line. */
    readonly line: number;
    /** Its code: lines `codeLine` to `lastLine`; none when `lastLine` is less. */
    readonly codeLine: number;
    readonly lastLine: number;
    readonly kind: "code" | "markdown";
    /** That the line names, if it does; else it is the document's. */
    readonly language?: string;
    /** That the line gives its executions: `# %% timeout=10`. */
    readonly timeoutSeconds?: number;
}

const begins = /^(?:#\s*(?:%%|<codecell>|<markdowncell>|In\s?\[[ \d]*\])|(?:\/\/|--)\s*%%)/;
// The same anywhere in a text, whose lines it does not go beyond.
const beginsSomewhere = new RegExp(`(?:^|[\\r\\n])${begins.source.slice(1).replaceAll("\\s", "[^\\S\\r\\n]")}`);
const markdown = /^(?:#|\/\/|--)\s*(%%.*\[(markdown|md)\]|<markdowncell>)/;

/** Whether there are any, without splitting the text. */
export function hasCells(text: string): boolean {
    return beginsSomewhere.test(text);
}

export function cellsOf(lines: readonly string[]): Cell[] {
    const starts = lines.flatMap((text, line) => (begins.test(text) ? [line] : []));
    const first = starts[0];
    if (first === undefined) return [];
    const cells = starts.map((line, index): Cell => {
        const kind = markdown.test(lines[line] ?? "") ? "markdown" : "code";
        const language = languageOfMarker(lines[line] ?? "");
        const timeoutSeconds = timeoutOf(lines[line] ?? "");
        const cell = { line, codeLine: line + 1, lastLine: (starts[index + 1] ?? lines.length) - 1, kind } as const;
        return { ...cell, ...(language === undefined ? {} : { language }), ...(timeoutSeconds === undefined ? {} : { timeoutSeconds }) };
    });
    const hasPreamble = lines.slice(0, first).some((text) => text.trim() !== "");
    return hasPreamble ? [{ line: 0, codeLine: 0, lastLine: first - 1, kind: "code" }, ...cells] : cells;
}

/** Seconds, by a marker; undefined where it gives none, or no time. */
function timeoutOf(marker: string): number | undefined {
    const seconds = Number(/\stimeout=(\d+(?:\.\d+)?)(?=\s|$)/.exec(marker)?.[1] ?? 0);
    return seconds > 0 ? seconds : undefined;
}

/** The cell that contains a line. */
export function cellAt(cells: readonly Cell[], line: number): Cell | undefined {
    return cells.findLast((cell) => cell.line <= line);
}

export interface Code {
    readonly text: string;
    /** Where it begins in the document. */
    readonly line: number;
}

/** The code of lines `first` to `last`; undefined when there is none. Blank lines around it are left out. */
export function codeOf(lines: readonly string[], first: number, last: number): Code | undefined {
    const blank = (line: number) => (lines[line] ?? "").trim() === "";
    while (first <= last && blank(first)) first++;
    while (first <= last && blank(last)) last--;
    if (first > last) return undefined;
    return { text: `${lines.slice(first, last + 1).join("\n")}\n`, line: first };
}

/** Lines that were selected, with the indentation that they share taken away, so that the inside of a block can run. */
export function dedented(code: Code): Code {
    const lines = code.text.split("\n");
    const indents = lines.filter((line) => line.trim() !== "").map((line) => /^[ \t]*/.exec(line)?.[0] ?? "");
    let shared = indents[0] ?? "";
    for (const indent of indents) while (!indent.startsWith(shared)) shared = shared.slice(0, -1);
    return { ...code, text: lines.map((line) => line.slice(shared.length)).join("\n") };
}
