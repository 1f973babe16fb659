// `piecesOf` is the code of a document as it is checked: each cell by itself, or all of it where it has no cells.

import { cellsOf, codeOf } from "../cells/cells";

export interface Piece {
    readonly code: string;
    /** Where it begins in the document. */
    readonly line: number;
    /** That its cell names. */
    readonly language?: string;
}

// The protocol's limit, in characters.
const maxCode = 1 << 20;

export function piecesOf(lines: readonly string[]): Piece[] {
    const cells = cellsOf(lines);
    const parts = cells.length > 0 ? cells.filter(({ kind }) => kind === "code") : [{ codeLine: 0, lastLine: lines.length - 1 }];
    return parts.flatMap((part): Piece[] => {
        const code = codeOf(lines, part.codeLine, part.lastLine);
        if (!code || code.text.length > maxCode) return [];
        const language = "language" in part ? part.language : undefined;
        return [{ code: code.text, line: code.line, ...(language === undefined ? {} : { language }) }];
    });
}
