// `cellCommands` registers the commands that run code of a file. A lens names the document and the line; otherwise they
// are those of the cursor.

import * as vscode from "vscode";
import { active } from "../active";
import type { Cellgate } from "../cellgate";
import { cellAt, cellsOf, type Cell } from "./cells";
import { linesOf } from "./document";
import type { CellRunner } from "./runner";

interface Target {
    readonly document: vscode.TextDocument;
    readonly line: number;
}

export function cellCommands(cellgate: Cellgate, runner: CellRunner): vscode.Disposable {
    /** The editor of a file whose code runs here: a notebook runs its own cells. */
    function fileEditor(): vscode.TextEditor | undefined {
        return active(cellgate)?.kind === "file" ? vscode.window.activeTextEditor : undefined;
    }

    function targetOf(uri?: vscode.Uri, line?: number): Target | undefined {
        if (uri !== undefined && line !== undefined) {
            const document = vscode.workspace.textDocuments.find((each) => each.uri.toString() === uri.toString());
            return document && { document, line };
        }
        const editor = fileEditor();
        return editor && { document: editor.document, line: editor.selection.active.line };
    }

    function runSelection(): void {
        const editor = fileEditor();
        if (editor) runner.runSelection(editor);
    }

    /** The selection where there is one, else the cell, after which `then` may move the cursor. */
    function runCellOrSelection(target: Target, then: (target: Target) => void = () => undefined): void {
        if (vscode.window.activeTextEditor?.selection.isEmpty === false) {
            runSelection();
            return;
        }
        runner.runCells(target.document, only(target.line));
        then(target);
    }

    const commands: Record<string, (target: Target) => void> = {
        runCell: ({ document, line }) => runner.runCells(document, only(line)),
        runCellAndAdvance: (target) => runCellOrSelection(target, advance),
        runCellInPlace: (target) => runCellOrSelection(target),
        runAbove: ({ document, line }) => runner.runCells(document, (all) => all.filter((cell) => cell.lastLine < line)),
        runBelow: ({ document, line }) => runner.runCells(document, (all) => all.filter((cell) => cell.lastLine >= line)),
        runAll: ({ document }) => runner.runCells(document, (all) => all),
        runFile: ({ document }) => runner.runFile(document),
        runSelection,
    };
    return vscode.Disposable.from(
        ...Object.entries(commands).map(([name, action]) =>
            vscode.commands.registerCommand(`cellgate.${name}`, (uri?: vscode.Uri, line?: number) => {
                const target = targetOf(uri, line);
                if (target) action(target);
            }),
        ),
    );
}

const only = (line: number) => (all: Cell[]) => {
    const cell = cellAt(all, line);
    return cell ? [cell] : [];
};

/** Moves the cursor to the next cell. */
function advance({ document, line }: Target): void {
    const next = cellsOf(linesOf(document)).find((cell) => cell.line > line);
    const editor = vscode.window.activeTextEditor;
    if (!next || editor?.document !== document) return;
    const position = new vscode.Position(Math.min(next.codeLine, document.lineCount - 1), 0);
    editor.selection = new vscode.Selection(position, position);
    editor.revealRange(new vscode.Range(next.line, 0, next.lastLine, 0), vscode.TextEditorRevealType.InCenterIfOutsideViewport);
}
