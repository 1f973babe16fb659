// From a result to its cell and back, and to the results of a session.

import * as vscode from "vscode";
import type { Cellgate } from "../cellgate";
import type { Execution } from "../executions";
import { inTurn } from "../inTurn";
import { inform, tell } from "../notices";
import { label } from "../text";
import { documentName, documentUri } from "../uris";
import type { ResultsDocuments } from "./documents";
import type { OutputPages } from "./pages";
import { notebookType, sessionOf, uriOf } from "./place";

export function links(cellgate: Cellgate, documents: ResultsDocuments, pages: OutputPages): vscode.Disposable {
    const { executions } = cellgate;

    async function goToCell(executionId: string): Promise<void> {
        const execution = executions.get(executionId);
        if (execution) await reveal(cellgate, execution, 0);
    }

    /** The results of the session, with this one in view. */
    async function showResult(executionId: string): Promise<void> {
        const execution = executions.get(executionId);
        if (!execution) return;
        const editor = await showResults(execution.sessionId);
        if (revealResult(editor, executionId)) return;
        // One that was let go is in the journal.
        if (documents.resultsOf(execution.sessionId).get(executionId)) asked = executionId;
        else await pages.show(executionId);
    }

    /** Of the session that a row or a document says, else of one that the person chooses. */
    async function showResultsOf(session?: { sessionId: string }): Promise<void> {
        const sessionId = session?.sessionId ?? (await chosenSession(cellgate));
        if (sessionId !== undefined) await showResults(sessionId);
    }

    function clear(): void {
        const notebook = vscode.window.activeNotebookEditor?.notebook;
        const sessionId = notebook && sessionOf(notebook.uri);
        if (sessionId === undefined) void inform("cellgate: no results are open here that could be cleared.");
        else documents.resultsOf(sessionId).clear();
    }

    // What was asked for here last is brought into view. Its cell is in the notebook a moment later.
    let asked: string | undefined;
    const known = new Set(executions.all().map(({ id }) => id));
    return vscode.Disposable.from(
        vscode.commands.registerCommand("cellgate.goToCell", (id: string) => goToCell(id).catch(tell)),
        vscode.commands.registerCommand("cellgate.showResult", (id: string) => showResult(id).catch(tell)),
        vscode.commands.registerCommand("cellgate.showResults", (session?: { sessionId: string }) => showResultsOf(session).catch(tell)),
        vscode.commands.registerCommand("cellgate.clearResults", clear),
        vscode.notebooks.registerNotebookCellStatusBarItemProvider(notebookType, {
            provideCellStatusBarItems(cell) {
                const execution = documents.resultOf(cell)?.execution;
                return execution ? itemsOf(cellgate, execution) : [];
            },
        }),
        executions.onDidChange(({ id, sessionId, state, cell, agent, code }) => {
            if (known.has(id)) return;
            known.add(id);
            const isOurs = state === "queued" && agent === undefined && code !== undefined;
            // What a notebook runs is shown there.
            const inDocument = cell !== undefined && !cell.uri.startsWith("vscode-notebook-cell:");
            if (!isOurs || !inDocument || !vscode.workspace.getConfiguration("cellgate", cellgate.root).get<boolean>("results.openOnRun")) return;
            asked = id;
            showResults(sessionId).then((editor) => revealResult(editor, id)).catch(tell);
        }),
        vscode.workspace.onDidChangeNotebookDocument(({ notebook, contentChanges }) => {
            if (notebook.notebookType !== notebookType || contentChanges.length === 0 || asked === undefined) return;
            const editor = vscode.window.visibleNotebookEditors.find((each) => each.notebook === notebook);
            if (editor && revealResult(editor, asked)) asked = undefined;
        }),
    );
}

async function chosenSession({ sessions, executions }: Cellgate): Promise<string | undefined> {
    const ids = [...new Set([...sessions.all(), ...executions.all()].map(({ sessionId }) => sessionId))];
    if (ids.length === 0) void inform("cellgate: nothing has run here yet.");
    if (ids.length <= 1) return ids[0];
    const items = ids.map((sessionId) => {
        const agent = sessions.get(sessionId)?.agent ?? executions.all().find((each) => each.sessionId === sessionId)?.agent;
        return { label: label(sessionId), description: agent === undefined ? "" : `agent ${label(agent, 60)}`, sessionId };
    });
    return (await vscode.window.showQuickPick(items, { title: "The results of which session?" }))?.sessionId;
}

// An editor that opens where another one is still opening ends that with an error: cells that are run together, say.
const opensInTurn = inTurn();

/** Where it was the last time, else beside what is being edited, which keeps the focus. */
function showResults(sessionId: string): Promise<vscode.NotebookEditor> {
    return opensInTurn(() => openResults(sessionId));
}

async function openResults(sessionId: string): Promise<vscode.NotebookEditor> {
    const uri = uriOf(sessionId);
    const visible = vscode.window.visibleNotebookEditors.find(({ notebook }) => notebook.uri.toString() === uri.toString());
    if (visible) return visible;
    const group = vscode.window.tabGroups.all.find(({ tabs }) =>
        tabs.some(({ input }) => input instanceof vscode.TabInputNotebook && input.uri.toString() === uri.toString()),
    );
    const notebook = await vscode.workspace.openNotebookDocument(uri);
    return vscode.window.showNotebookDocument(notebook, {
        viewColumn: group?.viewColumn ?? vscode.ViewColumn.Beside,
        preserveFocus: true,
        preview: false,
    });
}

/** True when there is a cell for it. */
function revealResult(editor: vscode.NotebookEditor, executionId: string): boolean {
    const cell = editor.notebook.getCells().findLast((each) => each.metadata.executionId === executionId);
    if (!cell) return false;
    const range = new vscode.NotebookRange(cell.index, cell.index + 1);
    editor.selection = range;
    editor.revealRange(range, vscode.NotebookEditorRevealType.InCenterIfOutsideViewport);
    return true;
}

/** Opens the document at a line of the execution's code, where that line is now. */
export async function reveal({ anchors }: Cellgate, { id, cell }: Execution, index: number): Promise<void> {
    if (!cell) return;
    const uri = documentUri(cell.uri);
    const line = anchors.lineNow(cell.uri, id, index) ?? cell.line + index;
    const open = vscode.window.visibleTextEditors.find(({ document }) => document.uri.toString() === uri.toString());
    const editor = await vscode.window.showTextDocument(uri, { viewColumn: open?.viewColumn ?? vscode.ViewColumn.One });
    const place = new vscode.Position(Math.min(line, editor.document.lineCount - 1), 0);
    editor.selection = new vscode.Selection(place, place);
    editor.revealRange(new vscode.Range(place, place), vscode.TextEditorRevealType.InCenterIfOutsideViewport);
}

function itemsOf({ anchors }: Cellgate, { id, cell, agent, result }: Execution): vscode.NotebookCellStatusBarItem[] {
    const { Left, Right } = vscode.NotebookCellStatusBarAlignment;
    const items: vscode.NotebookCellStatusBarItem[] = [];
    if (cell) {
        const line = (anchors.lineNow(cell.uri, id) ?? cell.line) + 1;
        const name = documentName(cell.uri, false);
        const item = new vscode.NotebookCellStatusBarItem(`$(go-to-file) ${label(name)}:${line}`, Right);
        item.command = { title: "Go to Cell", command: "cellgate.goToCell", arguments: [id] };
        item.tooltip = "Shows the cell that this is the result of";
        items.push(item);
    }
    if (agent !== undefined) items.push(new vscode.NotebookCellStatusBarItem(`$(hubot) agent ${label(agent, 60)}`, Right));
    if (result && result.status !== "ok" && result.status !== "error") {
        items.push(new vscode.NotebookCellStatusBarItem(`$(circle-slash) ${result.status}`, Left));
    }
    return items;
}
