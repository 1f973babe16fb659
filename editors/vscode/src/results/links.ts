// `links` registers the ways from a result to its cell and back, and to the results of a session.

import * as vscode from "vscode";
import type { Cellgate } from "../cellgate";
import type { Execution } from "../executions";
import { inform, showError } from "../notices";
import { label } from "../text";
import { documentName } from "../uris";
import type { ResultsDocuments } from "./documents";
import { ResultFollower } from "./follower";
import type { OutputPages } from "./pages";
import { notebookType, sessionOf } from "./resultsUri";
import { reveal, showResults } from "./reveal";

export function links(cellgate: Cellgate, documents: ResultsDocuments, pages: OutputPages): vscode.Disposable {
    const follower = new ResultFollower(cellgate, documents, pages);
    const commands: Record<string, (argument: never) => Promise<void>> = {
        goToCell: (id: string) => goToCell(cellgate, id),
        showResult: (id: string) => follower.showResult(id),
        showResults: (session?: { sessionId: string }) => showResultsOf(cellgate, session),
    };
    return vscode.Disposable.from(
        follower,
        ...Object.entries(commands).map(([name, action]) =>
            vscode.commands.registerCommand(`cellgate.${name}`, (argument: never) => action(argument).catch(showError)),
        ),
        vscode.commands.registerCommand("cellgate.clearResults", () => clearResults(documents)),
        vscode.notebooks.registerNotebookCellStatusBarItemProvider(notebookType, {
            provideCellStatusBarItems(cell) {
                const execution = documents.resultOf(cell)?.execution;
                return execution ? itemsOf(cellgate, execution) : [];
            },
        }),
    );
}

async function goToCell(cellgate: Cellgate, executionId: string): Promise<void> {
    const execution = cellgate.executions.get(executionId);
    if (execution) await reveal(cellgate, execution, 0);
}

/** Of the session that a row or a document names; otherwise the user picks one. */
async function showResultsOf(cellgate: Cellgate, session?: { sessionId: string }): Promise<void> {
    const sessionId = session?.sessionId ?? (await chosenSession(cellgate));
    if (sessionId !== undefined) await showResults(sessionId);
}

function clearResults(documents: ResultsDocuments): void {
    const notebook = vscode.window.activeNotebookEditor?.notebook;
    const sessionId = notebook && sessionOf(notebook.uri);
    if (sessionId === undefined) void inform("cellgate: no results are open here that could be cleared.");
    else documents.resultsOf(sessionId).clear();
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
