// `hangOf` is how far in the further rows of wrapped lines begin, in columns.

// The page may be narrow.
const most = 12;

/** Deeper than any of the lines, as far as there is room for it. The sign of a changed line is a part of its indentation. */
export function hangOf(lines: readonly string[]): number {
    const indents = lines.map((line) => /^[+-]? */.exec(line)?.[0].length ?? 0);
    return Math.min(most, indents.reduce((deepest, each) => Math.max(deepest, each), 0) + 4);
}
