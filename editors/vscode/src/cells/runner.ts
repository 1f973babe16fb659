// `CellRunner` runs code of a document in the document's session.

import * as vscode from "vscode";
import type { Cellgate } from "../cellgate";
import { cellsOf, codeOf, dedented, type Cell, type Code } from "./cells";
import { linesOf } from "./document";
import { isOtherFolder } from "./otherFolder";

export class CellRunner {
    constructor(private readonly cellgate: Cellgate) {}

    /** The code cells that `choose` returns, of all cells of the document. */
    runCells(document: vscode.TextDocument, choose: (cells: Cell[]) => Cell[]): void {
        const lines = linesOf(document);
        const cells = choose(cellsOf(lines)).filter((cell) => cell.kind === "code");
        this.run(document, cells.map((cell) => codeOf(lines, cell.codeLine, cell.lastLine)));
    }

    runFile(document: vscode.TextDocument): void {
        const lines = linesOf(document);
        this.run(document, [codeOf(lines, 0, lines.length - 1)]);
    }

    /** The selected lines, or the line of the cursor. */
    runSelection({ document, selection }: vscode.TextEditor): void {
        const { start, end, isEmpty } = selection;
        // A selection that ends before a line's first character does not include that line.
        const last = !isEmpty && end.character === 0 ? end.line - 1 : end.line;
        const code = codeOf(linesOf(document), start.line, Math.max(start.line, last));
        this.run(document, [code && dedented(code)]);
    }

    private run(document: vscode.TextDocument, codes: (Code | undefined)[]): void {
        const { executions, anchors, kernels, documents } = this.cellgate;
        if (isOtherFolder(this.cellgate, document.uri)) return;
        const uri = document.uri.toString();
        const sessionId = documents.sessionOf(uri);
        const ready = kernels.sessionFor(document.uri);
        // Each execution reports the failure: the editor need not report it as unhandled too.
        ready.catch(() => undefined);
        for (const code of codes) {
            if (!code) continue;
            const { text, line } = code;
            const execution = executions.execute({ sessionId, code: text, cell: { uri, line } }, ready);
            anchors.add(uri, execution.id, line, text.split("\n").length);
        }
    }
}
