// `pieces` splits text with terminal colours into its pieces, each with the style that shows it in the colours of the
// editor's theme. Other escape sequences are dropped.

const names = ["Black", "Red", "Green", "Yellow", "Blue", "Magenta", "Cyan", "White"];
// eslint-disable-next-line no-control-regex
const escape = /\u001b(?:\[([0-9;:<=>?]*)[ -/]*([@-~])|[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[ -/]*[0-~]?)/g;
// eslint-disable-next-line no-control-regex
const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

export interface Piece {
    readonly text: string;
    readonly style: Readonly<Record<string, string>>;
}

type Look = Readonly<Record<string, string>>;

export function pieces(text: string): Piece[] {
    const made: Piece[] = [];
    let look: Look = {};
    let last = 0;
    const put = (part: string) => {
        if (part) made.push({ text: part.replace(controls, ""), style: legible(look) });
    };
    for (const match of text.matchAll(escape)) {
        put(text.slice(last, match.index));
        last = match.index + match[0].length;
        if (match[2] === "m") look = changed(look, (match[1] ?? "").split(/[;:]/).map(Number));
    }
    put(text.slice(last));
    return made;
}

/**
 * The program that chose the colours does not know those of the theme. Where one of text and background is the theme's and
 * the other is fixed, the text becomes black or white; on the editor's own background it comes nearer to the editor's text.
 * IPython marks the code that failed in this way.
 */
function legible(look: Look): Look {
    const { color, backgroundColor } = look;
    if (color !== undefined && backgroundColor === undefined && !isThemed(color)) {
        return { ...look, color: `color-mix(in srgb, ${color}, var(--vscode-editor-foreground))` };
    }
    if (backgroundColor === undefined || (color !== undefined && isThemed(color) === isThemed(backgroundColor))) return look;
    // Black and white differ as much from a colour of the lightness 49.
    return { ...look, color: `lab(from ${backgroundColor} clamp(0, (49 - l) * 1000, 100) 0 0)` };
}

function changed(look: Look, codes: number[]): Look {
    let now: Record<string, string> = { ...look };
    for (let i = 0; i < codes.length; i++) {
        const code = codes[i] ?? 0;
        if (code === 0) now = {};
        else if (code === 1) now.fontWeight = "bold";
        else if (code === 2) now.opacity = "0.7";
        else if (code === 3) now.fontStyle = "italic";
        else if (code === 4) now.textDecoration = "underline";
        else if (code === 9) now.textDecoration = "line-through";
        else if (code === 22) now = without(now, "fontWeight", "opacity");
        else if (code === 23) now = without(now, "fontStyle");
        else if (code === 24 || code === 29) now = without(now, "textDecoration");
        else if (code === 39) now = without(now, "color");
        else if (code === 49) now = without(now, "backgroundColor");
        else if (code === 38 || code === 48) {
            const [colour, used] = extended(codes.slice(i + 1));
            if (colour) now[code === 38 ? "color" : "backgroundColor"] = colour;
            i += used;
        } else {
            const base = code % 10;
            const bright = code >= 90 ? "Bright" : "";
            const name = names[base];
            if (!name) continue;
            if ((code >= 30 && code < 38) || (code >= 90 && code < 98)) now.color = themed(bright + name);
            if ((code >= 40 && code < 48) || (code >= 100 && code < 108)) now.backgroundColor = themed(bright + name);
        }
    }
    return now;
}

const themed = (name: string) => `var(--vscode-terminal-ansi${name})`;
const isThemed = (colour: string) => colour.startsWith("var(");

function without(look: Look, ...gone: string[]): Record<string, string> {
    return Object.fromEntries(Object.entries(look).filter(([name]) => !gone.includes(name)));
}

/** A colour of 256 or of all, and how many numbers say it. */
function extended([kind, ...rest]: number[]): [string | undefined, number] {
    const byte = (value = 0) => Math.min(255, Math.max(0, Math.trunc(value)));
    if (kind === 2) return [`rgb(${byte(rest[0])}, ${byte(rest[1])}, ${byte(rest[2])})`, 4];
    if (kind !== 5) return [undefined, 0];
    const index = byte(rest[0]);
    if (index < 16) return [themed((index < 8 ? "" : "Bright") + (names[index % 8] ?? "")), 2];
    if (index >= 232) {
        const grey = 8 + 10 * (index - 232);
        return [`rgb(${grey}, ${grey}, ${grey})`, 2];
    }
    const level = (n: number) => (n === 0 ? 0 : 55 + 40 * n);
    const cube = index - 16;
    return [`rgb(${level(Math.trunc(cube / 36))}, ${level(Math.trunc(cube / 6) % 6)}, ${level(cube % 6)})`, 2];
}
