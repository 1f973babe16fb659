// `piecesOf` is the code of a document as it is checked: each cell by itself, or all of it where it has no cells. `inContext`
// adds to each what it may use names of.

import { cellsOf, codeOf } from "../cells/cells";
import type { ValidateParams } from "../protocol/messages";

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

/** Each with the code of those before it that are of its language, as far back as the protocol's limit of one text. */
export function inContext(all: readonly ValidateParams[]): ValidateParams[] {
    return all.map((params, index) => {
        const context: string[] = [];
        let length = 0;
        for (const { code, language } of all.slice(0, index).reverse()) {
            if (language !== params.language) continue;
            length += code.length;
            if (length > maxCode || context.length === 1000) break;
            context.unshift(code);
        }
        return context.length > 0 ? { ...params, context } : params;
    });
}
