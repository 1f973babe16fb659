// `notebooks` runs ordinary notebooks (.ipynb) in cellgate's kernels.

import * as vscode from "vscode";
import { ordinaryNotebooks as notebookType } from "../active";
import type { Cellgate } from "../cellgate";
import { KernelControllers } from "./controllers";
import { showError } from "../notices";
import { OpenNotebooks } from "./openNotebooks";
import { setCellTimeout } from "./setCellTimeout";

export function notebooks(cellgate: Cellgate): vscode.Disposable {
    const { kernels, sidecar, log } = cellgate;
    const open = new OpenNotebooks(cellgate);
    const controllers = new KernelControllers(cellgate, open);

    /** Only once a notebook is open: the sidecar starts programs to find kernels. */
    async function offerAll(): Promise<void> {
        const ordinary = () => vscode.workspace.notebookDocuments.filter((each) => each.notebookType === notebookType);
        if (ordinary().length === 0) return;
        try {
            for (const kernel of (await sidecar.request("kernel/list", {})).kernels) controllers.offer(kernel);
            for (const notebook of ordinary()) controllers.preferFor(notebook);
        } catch (error) {
            log.warn(`no kernels for notebooks: ${String(error)}`);
        }
    }

    function offerElsewhere(): void {
        for (const kernel of kernels.elsewhere.all()) controllers.offerElsewhere(kernel);
    }

    void offerAll();
    offerElsewhere();
    return vscode.Disposable.from(
        sidecar.onDidConnect(() => void offerAll()),
        kernels.elsewhere.onDidChange(offerElsewhere),
        vscode.workspace.onDidOpenNotebookDocument(() => void offerAll()),
        vscode.workspace.onDidCloseNotebookDocument((notebook) => open.close(notebook)),
        vscode.commands.registerCommand("cellgate.setCellTimeout", () => setCellTimeout().catch(showError)),
        controllers,
        open,
    );
}
