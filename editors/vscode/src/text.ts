// These functions make text from outside (names, prompts, errors of code) safe to show where the editor takes plain
// text.

// Controls, direction marks, zero-width and other characters that show nothing or change how their neighbours read.
const unprintable =
    // eslint-disable-next-line no-control-regex, no-misleading-character-class
    /[\u0000-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb]|[\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]/gu;

/** The text in one line, with unprintable characters escaped as \u{…}. */
export function escapeUnprintable(text: string): string {
    return text.replace(unprintable, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
}

/** The same for text of several lines. */
export function escapeLines(text: string): string {
    return text.split("\n").map(escapeUnprintable).join("\n");
}

/**
 * The first line; where that announces the lines after it ("its last words on stderr:"), with the last of them, which
 * says most.
 */
export function firstLine(text: string): string {
    const [first = "", ...others] = text.trim().split("\n").map((line) => line.trim());
    if (!first.endsWith(":")) return first;
    const last = others.findLast((line) => line !== "");
    return last === undefined ? first.replace(/(; [^;]*)?:$/, "") : `${first} ${last}`;
}

/**
 * For places where the editor looks for `$(icon)` and `[text](link)`, such as lenses, input boxes and the status bar.
 * What is longer than `length` is cut, and shows it.
 */
export function label(text: string, length = 200): string {
    const shown = plain(text.slice(0, length).replace(/\n/g, escapeUnprintable));
    return text.length > length ? `${shown}…` : shown;
}

/** As label(), cut between two words where that leaves most of it. */
export function brief(text: string, length: number): string {
    const words = text.slice(0, length + 1).replace(/\s+\S*$/, "");
    const isMost = words.length > length / 2 && words.length <= length;
    return text.length > length && isMost ? `${label(words)}…` : label(text, length);
}

/** As label(), for text of several lines, and whole. */
export function plain(text: string): string {
    return escapeLines(text).replace(/\$\(/g, "$ (").replace(/\]\(/g, "] (");
}
