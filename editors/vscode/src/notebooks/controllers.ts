// `KernelControllers` is one entry in the editor's list of kernels for each kernel that the sidecar can start, and for
// each elsewhere that the user has chosen.

import * as vscode from "vscode";
import { ordinaryNotebooks as notebookType } from "../active";
import type { Cellgate } from "../cellgate";
import { editorLanguagesOf, runsLanguage } from "../cells/languages";
import { isOtherFolder } from "../cells/otherFolder";
import { sameFields, type KernelElsewhere } from "../kernels/elsewhere";
import type { KernelChoice, KernelInfo } from "../protocol/messages";
import { label } from "../text";
import { languageOfNotebook } from "./language";
import type { OpenNotebooks } from "./openNotebooks";

export const controllerIdOf = ({ kernel }: KernelElsewhere) => `cellgate-elsewhere-${encodeURIComponent(sameFields(kernel))}`;

export class KernelControllers implements vscode.Disposable {
    private readonly controllers = new Map<string, vscode.NotebookController>();
    private readonly languages = new Map<vscode.NotebookController, string>();

    constructor(
        private readonly cellgate: Cellgate,
        private readonly open: OpenNotebooks,
    ) {}

    dispose(): void {
        for (const controller of this.controllers.values()) controller.dispose();
    }

    /** Adds the kernel, or updates what is known of it. */
    offer({ name, displayName, source, interpreter, language, problem }: KernelInfo): void {
        const kernel = interpreter !== undefined && source === "interpreter" ? { interpreter } : { name };
        const controller = this.controllerOf(`cellgate-${source}-${name}`, displayName, kernel);
        controller.detail = interpreter && label(interpreter);
        controller.supportedLanguages = editorLanguagesOf(language);
        // A kernel with a problem is offered too: its start offers to solve it.
        this.languages.set(controller, language);
        controller.description = problem === undefined ? "sandboxed" : label(`$(warning) ${problem}`, 120);
    }

    offerElsewhere(elsewhere: KernelElsewhere): void {
        const { name, language, kernel } = elsewhere;
        const controller = this.controllerOf(controllerIdOf(elsewhere), name, kernel);
        controller.detail = kernel.server && label(kernel.server.url);
        if (language !== undefined) controller.supportedLanguages = editorLanguagesOf(language);
        controller.description = "not sandboxed";
    }

    /** The editor offers kernels of the notebook's language before the others, and takes one that is the only one. */
    preferFor(notebook: vscode.NotebookDocument): void {
        const cells = notebook.getCells().filter(({ kind }) => kind === vscode.NotebookCellKind.Code);
        const wanted = languageOfNotebook(notebook.metadata, cells.map(({ document }) => document.languageId));
        const { Default, Preferred } = vscode.NotebookControllerAffinity;
        for (const [controller, language] of this.languages) {
            controller.updateNotebookAffinity(notebook, runsLanguage(language, wanted) ? Preferred : Default);
        }
    }

    private controllerOf(id: string, name: string, kernel: KernelChoice): vscode.NotebookController {
        const known = this.controllers.get(id);
        if (known) return known;
        const { documents, sessions } = this.cellgate;
        const controller = vscode.notebooks.createNotebookController(id, notebookType, `${label(name, 100)} in cellgate`);
        this.controllers.set(id, controller);
        controller.supportsExecutionOrder = true;
        controller.executeHandler = (cells, notebook) => this.execute(controller, kernel, cells, notebook);
        controller.onDidChangeSelectedNotebooks(({ notebook, selected }) => {
            if (selected) this.open.runsOf(notebook).resumeIn(controller);
        });
        controller.interruptHandler = (notebook) => sessions.interrupt(documents.sessionOf(notebook.uri.toString()));
        return controller;
    }

    private execute(
        controller: vscode.NotebookController,
        kernel: KernelChoice,
        cells: vscode.NotebookCell[],
        notebook: vscode.NotebookDocument,
    ): void {
        if (isOtherFolder(this.cellgate, notebook.uri)) return;
        const ready = this.cellgate.kernels.sessionFor(notebook.uri, kernel);
        // Each execution reports the failure.
        ready.catch(() => undefined);
        for (const cell of cells) this.open.runsOf(notebook).run(controller, cell, ready);
    }
}
