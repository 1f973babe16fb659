// `CellRunner` runs code of a document in the document's session, and a cell of another language in one of its own.

import * as vscode from "vscode";
import type { Cellgate } from "../cellgate";
import { cellAt, cellsOf, codeOf, dedented, type Cell, type Code } from "./cells";
import { linesOf } from "./document";
import { languageOfDocument } from "./languages";
import { isOtherFolder } from "./otherFolder";

interface Piece {
    readonly code: Code | undefined;
    /** Its cell's; undefined: the document's. */
    readonly language: string | undefined;
    readonly timeoutSeconds?: number | undefined;
}

export class CellRunner {
    constructor(private readonly cellgate: Cellgate) {}

    /** The code cells that `choose` returns, of all cells of the document. */
    runCells(document: vscode.TextDocument, choose: (cells: Cell[]) => Cell[]): void {
        const lines = linesOf(document);
        const cells = choose(cellsOf(lines)).filter((cell) => cell.kind === "code");
        this.run(document, cells.map((cell) => ({ code: codeOf(lines, cell.codeLine, cell.lastLine), language: cell.language, timeoutSeconds: cell.timeoutSeconds })));
    }

    runFile(document: vscode.TextDocument): void {
        const lines = linesOf(document);
        this.run(document, [{ code: codeOf(lines, 0, lines.length - 1), language: undefined }]);
    }

    /** The selected lines, or the line of the cursor. */
    runSelection({ document, selection }: vscode.TextEditor): void {
        const { start, end, isEmpty } = selection;
        // A selection that ends before a line's first character does not include that line.
        const last = !isEmpty && end.character === 0 ? end.line - 1 : end.line;
        const lines = linesOf(document);
        const code = codeOf(lines, start.line, Math.max(start.line, last));
        const cell = cellAt(cellsOf(lines), start.line);
        this.run(document, [{ code: code && dedented(code), language: cell?.language, timeoutSeconds: cell?.timeoutSeconds }]);
    }

    private run(document: vscode.TextDocument, pieces: Piece[]): void {
        const { executions, anchors, kernels, documents } = this.cellgate;
        if (isOtherFolder(this.cellgate, document.uri)) return;
        const uri = document.uri.toString();
        const own = languageOfDocument(document.languageId);
        for (const { code, language = own, timeoutSeconds } of pieces) {
            if (!code) continue;
            const sessionId = documents.sessionOf(uri, language === own ? undefined : language);
            const ready = kernels.sessionFor(document.uri, undefined, { sessionId, language });
            // Each execution reports the failure: the editor need not report it as unhandled too.
            ready.catch(() => undefined);
            const { text, line } = code;
            const execution = executions.execute({ sessionId, code: text, cell: { uri, line }, ...(timeoutSeconds === undefined ? {} : { timeoutSeconds }) }, ready);
            anchors.add(uri, execution.id, line, text.split("\n").length);
        }
    }
}
