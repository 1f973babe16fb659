// An approval's `display` taken apart, so that calls of one tool can be shown in a table: its first line, and one part
// for each argument. The lines are cellgate's own rendering of the exact payload and stay as they are; nothing here
// looks at the values.

export interface Part {
    /** The argument's name as it is displayed. */
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
const begins = /^([A-Za-z0-9_-]+|"(?:[^"\\]|\\.)*"): (.*)$/s;

export function displayOf(lines: readonly string[]): Display {
    const parts: { name: string; lines: string[] }[] = [];
    for (const line of lines.slice(1)) {
        const [, name, rest] = begins.exec(line) ?? [];
        const last = parts.at(-1);
        if (name !== undefined && rest !== undefined) parts.push({ name, lines: [rest] });
        else if (last) last.lines.push(line);
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

const textOf = (part: Part | undefined) => part?.lines.join("\n");
export const partOf = (display: Display, name: string) => display.parts.find((part) => part.name === name);

export function tableOf(displays: readonly Display[]): Table {
    const names = new Set(displays.flatMap(({ parts }) => parts.map(({ name }) => name)));
    const first = displays[0];
    const isCommon = (name: string) => {
        const text = first && textOf(partOf(first, name));
        return displays.every((display) => textOf(partOf(display, name)) === text);
    };
    return {
        common: first?.parts.filter(({ name }) => isCommon(name)) ?? [],
        columns: [...names].filter((name) => !isCommon(name)),
    };
}
