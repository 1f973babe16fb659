// Ordinary notebooks (.ipynb) with cellgate's kernels: one entry in the editor's list for each kernel that the sidecar
// can start. A notebook has a session of its own, as every document, and its HTML has no scripts and no network.

import * as vscode from "vscode";
import { ordinaryNotebooks as notebookType } from "../active";
import type { Cellgate } from "../cellgate";
import { isElsewhere } from "../cells/elsewhere";
import type { KernelInfo } from "../protocol/messages";
import { SessionResults } from "../results/model/sessionResults";
import { label } from "../text";
import { NotebookRuns } from "./runs";
import { Unended } from "./unended";

export function notebooks(cellgate: Cellgate): vscode.Disposable {
    const { documents, executions, kernels, sessions, sidecar } = cellgate;
    const controllers = new Map<string, vscode.NotebookController>();
    const open = new Map<string, NotebookRuns>();
    const unended = new Unended(cellgate.extension.workspaceState);

    function runsOf(notebook: vscode.NotebookDocument): NotebookRuns {
        const uri = notebook.uri.toString();
        let runs = open.get(uri);
        if (!runs) {
            runs = new NotebookRuns(cellgate, notebook, new SessionResults(documents.sessionOf(uri), executions), unended);
            open.set(uri, runs);
        }
        return runs;
    }

    function offer({ name, displayName, language, source, interpreter, problem }: KernelInfo): void {
        const id = `cellgate-${source}-${name}`;
        const known = controllers.get(id);
        const controller = known ?? vscode.notebooks.createNotebookController(id, notebookType, `${label(displayName, 100)} in cellgate`);
        controllers.set(id, controller);
        // What it lacks it may be given when it is started.
        controller.description = problem === undefined ? "sandboxed" : label(`$(warning) ${problem}`, 120);
        if (known) return;
        controller.detail = interpreter && label(interpreter);
        controller.supportedLanguages = [language];
        controller.supportsExecutionOrder = true;
        const kernel = interpreter !== undefined && source === "interpreter" ? { interpreter } : { name };
        controller.executeHandler = (cells, notebook) => {
            if (isElsewhere(cellgate, notebook.uri)) return;
            const ready = kernels.sessionFor(notebook.uri, kernel);
            // Each execution is told of it.
            ready.catch(() => undefined);
            for (const cell of cells) runsOf(notebook).run(controller, cell, ready);
        };
        controller.onDidChangeSelectedNotebooks(({ notebook, selected }) => {
            if (selected) runsOf(notebook).goOnIn(controller);
        });
        controller.interruptHandler = (notebook) => sessions.interrupt(documents.sessionOf(notebook.uri.toString()));
    }

    /** Once there is a notebook to offer them for: to find kernels starts programs. */
    async function offerAll(): Promise<void> {
        if (!vscode.workspace.notebookDocuments.some((each) => each.notebookType === notebookType)) return;
        try {
            for (const kernel of (await sidecar.request("kernel/list", {})).kernels) offer(kernel);
        } catch (error) {
            cellgate.log.warn(`no kernels for notebooks: ${String(error)}`);
        }
    }

    void offerAll();
    return vscode.Disposable.from(
        sidecar.onDidConnect(() => void offerAll()),
        vscode.workspace.onDidOpenNotebookDocument(() => void offerAll()),
        vscode.workspace.onDidCloseNotebookDocument(({ uri }) => {
            open.get(uri.toString())?.dispose();
            open.delete(uri.toString());
        }),
        new vscode.Disposable(() => {
            for (const controller of controllers.values()) controller.dispose();
            for (const runs of open.values()) runs.dispose();
        }),
    );
}
