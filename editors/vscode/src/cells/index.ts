// Cells in the editor: the lenses above them, and the commands that run them.

import * as vscode from "vscode";
import { active } from "../active";
import type { Cellgate } from "../cellgate";
import type { Execution } from "../executions";
import { restartAsked } from "../kernels/restart";
import { inform, tell, warn } from "../notices";
import { cellAt, cellsOf, codeOf, dedented, type Cell, type Code } from "./cells";
import { ContextKeys } from "./contextKeys";
import { documentSelector, linesOf } from "./document";
import { isElsewhere } from "./elsewhere";
import { CellLenses } from "./lenses";

export function cells(cellgate: Cellgate): vscode.Disposable {
    const { executions, anchors, kernels, documents } = cellgate;

    function run(document: vscode.TextDocument, codes: (Code | undefined)[]): Execution[] {
        if (isElsewhere(cellgate, document.uri)) return [];
        const uri = document.uri.toString();
        const sessionId = documents.sessionOf(uri);
        const ready = kernels.sessionFor(document.uri);
        // Who is told of it by each execution need not be told by the editor too.
        ready.catch(() => undefined);
        return codes
            .filter((code) => code !== undefined)
            .map(({ text, line }) => {
                const execution = executions.execute({ sessionId, code: text, cell: { uri, line } }, ready);
                anchors.add(uri, execution.id, line, text.split("\n").length);
                return execution;
            });
    }

    const codesOf = (lines: string[], chosen: Cell[]) =>
        chosen.filter((cell) => cell.kind === "code").map((cell) => codeOf(lines, cell.codeLine, cell.lastLine));

    function runCells(document: vscode.TextDocument, choose: (cells: Cell[]) => Cell[]): void {
        const lines = linesOf(document);
        run(document, codesOf(lines, choose(cellsOf(lines))));
    }

    /** The document and line that a lens names, else those of the cursor. */
    function target(uri?: vscode.Uri, line?: number): { document: vscode.TextDocument; line: number } | undefined {
        if (uri !== undefined && line !== undefined) {
            const document = vscode.workspace.textDocuments.find((each) => each.uri.toString() === uri.toString());
            return document && { document, line };
        }
        const editor = fileEditor();
        return editor && { document: editor.document, line: editor.selection.active.line };
    }

    /** Of a file whose code runs here: a notebook's cell is run by its notebook. */
    function fileEditor(): vscode.TextEditor | undefined {
        return active(cellgate)?.kind === "file" ? vscode.window.activeTextEditor : undefined;
    }

    function command(name: string, action: (document: vscode.TextDocument, line: number) => void): vscode.Disposable {
        return vscode.commands.registerCommand(`cellgate.${name}`, (uri?: vscode.Uri, line?: number) => {
            const found = target(uri, line);
            if (found) action(found.document, found.line);
        });
    }

    const only = (line: number) => (all: Cell[]) => {
        const cell = cellAt(all, line);
        return cell ? [cell] : [];
    };

    function runCell(document: vscode.TextDocument, line: number): void {
        runCells(document, only(line));
    }

    function advance(document: vscode.TextDocument, line: number): void {
        const next = cellsOf(linesOf(document)).find((cell) => cell.line > line);
        const editor = vscode.window.activeTextEditor;
        if (!next || editor?.document !== document) return;
        const place = new vscode.Position(Math.min(next.codeLine, document.lineCount - 1), 0);
        editor.selection = new vscode.Selection(place, place);
        editor.revealRange(new vscode.Range(next.line, 0, next.lastLine, 0), vscode.TextEditorRevealType.InCenterIfOutsideViewport);
    }

    function runSelection(): void {
        const editor = fileEditor();
        if (!editor) return;
        const { start, end, isEmpty } = editor.selection;
        // A selection that ends before a line's first character does not mean that line.
        const last = !isEmpty && end.character === 0 ? end.line - 1 : end.line;
        const code = codeOf(linesOf(editor.document), start.line, Math.max(start.line, last));
        run(editor.document, [code && dedented(code)]);
    }

    function runCellOrSelection(document: vscode.TextDocument, line: number, then: typeof advance): void {
        if (vscode.window.activeTextEditor?.selection.isEmpty === false) {
            runSelection();
        } else {
            runCell(document, line);
            then(document, line);
        }
    }

    async function restart(sessionId: string): Promise<boolean> {
        try {
            return await restartAsked(cellgate.sessions, sessionId);
        } catch (error) {
            tell(error);
            return false;
        }
    }

    /** What runs is interrupted; when it will not stop, a restart is offered. */
    async function interrupt(sessionId: string): Promise<void> {
        const running = executions.unfinished(sessionId).find((each) => each.state === "running");
        if (running) await cancel(running);
    }

    /** A command on the session of what is active, be it a file or a notebook. */
    function onSession(name: string, action: (sessionId: string) => unknown): vscode.Disposable {
        return vscode.commands.registerCommand(`cellgate.${name}`, () => {
            const sessionId = active(cellgate)?.sessionId;
            if (sessionId !== undefined && cellgate.sessions.get(sessionId)) action(sessionId);
            else void inform("cellgate: there is no kernel here yet. The first cell that runs starts one.");
        });
    }

    async function restartAndRunAll(document: vscode.TextDocument): Promise<void> {
        const sessionId = documents.sessionOf(document.uri.toString());
        if (!cellgate.sessions.get(sessionId) || (await restart(sessionId))) runCells(document, (all) => all);
    }

    async function cancel(execution: Execution): Promise<void> {
        try {
            const { kernelBusy } = await executions.cancel(execution);
            if (!kernelBusy) return;
            const answer = await warn(
                "cellgate: the code does not stop. Restarting the kernel ends it, and loses its variables.",
                "Restart Kernel",
            );
            if (answer) await cellgate.sessions.restart({ sessionId: execution.sessionId });
        } catch (error) {
            tell(error);
        }
    }

    const lenses = new CellLenses(cellgate);
    return vscode.Disposable.from(
        lenses,
        vscode.languages.registerCodeLensProvider(documentSelector, lenses),
        new ContextKeys(cellgate),
        vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
            for (const { range, text } of contentChanges) {
                anchors.edit(document.uri.toString(), {
                    firstLine: range.start.line,
                    lastLine: range.end.line,
                    newBreaks: text.split(/\r\n|\r|\n/).length - 1,
                });
            }
        }),
        executions.onDidChange(({ id, cell }) => {
            // One that was begun before this window, or elsewhere: of its lines only the first is known.
            if (cell && !anchors.knows(cell.uri, id)) anchors.add(cell.uri, id, cell.line, 1);
        }),
        command("runCell", runCell),
        command("runCellAndAdvance", (document, line) => runCellOrSelection(document, line, advance)),
        command("runCellInPlace", (document, line) => runCellOrSelection(document, line, () => undefined)),
        command("runAbove", (document, line) => runCells(document, (all) => all.filter((cell) => cell.lastLine < line))),
        command("runBelow", (document, line) =>
            runCells(document, (all) => all.filter((cell) => cell.lastLine >= line)),
        ),
        command("runAll", (document) => runCells(document, (all) => all)),
        command("runFile", (document) => {
            const lines = linesOf(document);
            run(document, [codeOf(lines, 0, lines.length - 1)]);
        }),
        command("runSelection", runSelection),
        onSession("interrupt", interrupt),
        onSession("restart", restart),
        command("restartAndRunAll", (document) => void restartAndRunAll(document)),
        vscode.commands.registerCommand("cellgate.cancelExecution", (which: string | { execution: Execution }) => {
            const execution = typeof which === "string" ? executions.get(which) : which.execution;
            if (execution) void cancel(execution);
        }),
    );
}
