// `OpenNotebooks` holds the runs of each open notebook. A notebook has a session of its own, as every document has.

import type * as vscode from "vscode";
import type { Cellgate } from "../cellgate";
import { SessionResults } from "../results/model/sessionResults";
import { NotebookRuns } from "./runs";
import { UnfinishedRuns } from "./unfinishedRuns";

export class OpenNotebooks {
    private readonly open = new Map<string, NotebookRuns>();
    private readonly unfinished: UnfinishedRuns;

    constructor(private readonly cellgate: Cellgate) {
        this.unfinished = new UnfinishedRuns(cellgate.extension.workspaceState);
    }

    dispose(): void {
        for (const runs of this.open.values()) runs.dispose();
    }

    runsOf(notebook: vscode.NotebookDocument): NotebookRuns {
        const uri = notebook.uri.toString();
        const known = this.open.get(uri);
        if (known) return known;
        const { documents, executions } = this.cellgate;
        const runs = new NotebookRuns(this.cellgate, notebook, new SessionResults(documents.sessionOf(uri), executions), this.unfinished);
        this.open.set(uri, runs);
        return runs;
    }

    close({ uri }: vscode.NotebookDocument): void {
        this.open.get(uri.toString())?.dispose();
        this.open.delete(uri.toString());
    }
}
