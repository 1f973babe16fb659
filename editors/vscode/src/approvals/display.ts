// `Display` is an approval's `display`, split so that calls of one tool can share a table: the first line, and one part
// for each argument. The lines are the sidecar's rendering of the exact payload and stay unchanged; values are not
// interpreted here.

export interface Part {
    /** The argument's name as it is displayed; empty of a line that is about no argument. */
    readonly name: string;
    /** All lines of it, the name taken off the first. */
    readonly lines: readonly string[];
}

export interface Display {
    readonly title: string;
    readonly parts: readonly Part[];
}

// An argument begins at the margin with its name: plain, or in quotes. What belongs to it is indented, closes a
// bracket, or goes on from the line before.
const belongs = /^[ \]}↳]/;
const begins = /^([A-Za-z0-9_-]+|"(?:[^"\\]|\\.)*"): (.*)$/s;

export function displayOf(lines: readonly string[]): Display {
    const parts: { name: string; lines: string[] }[] = [];
    for (const line of lines.slice(1)) {
        const [, name, rest] = begins.exec(line) ?? [];
        const last = parts.at(-1);
        if (name !== undefined && rest !== undefined) parts.push({ name, lines: [rest] });
        else if (last && belongs.test(line)) last.lines.push(line);
        else parts.push({ name: "", lines: [line] });
    }
    return { title: lines[0] ?? "", parts };
}

export interface Table {
    /** What all of them have in common. */
    readonly common: readonly Part[];
    /** The names of the arguments that differ, or that some lack. */
    readonly columns: readonly string[];
}

/** Each part by what names its column, which no other one of the display has: what has no name is named by all of it. */
export function partsByColumn({ parts }: Display): Map<string, Part> {
    const byColumn = new Map<string, Part>();
    const counts = new Map<string, number>();
    for (const part of parts) {
        const named = part.name || part.lines.join("\n");
        let column = named;
        for (let number = (counts.get(named) ?? 0) + 1; byColumn.has(column); number++) {
            column = `${named} (${number})`;
            counts.set(named, number);
        }
        byColumn.set(column, part);
    }
    return byColumn;
}

const textOf = (part: Part | undefined) => part?.lines.join("\n");

export function tableOf(displays: readonly Display[]): Table {
    const tables = displays.map(partsByColumn);
    const columns = new Set(tables.flatMap((table) => [...table.keys()]));
    const first = tables[0] ?? new Map<string, Part>();
    const isCommon = (column: string) => tables.every((table) => textOf(table.get(column)) === textOf(first.get(column)));
    return {
        common: [...first].filter(([column]) => isCommon(column)).map(([, part]) => part),
        columns: [...columns].filter((column) => !isCommon(column)),
    };
}
