// `exporting` registers the command that writes results to a Jupyter notebook.

import { basename } from "node:path";
import * as vscode from "vscode";
import type { Cellgate } from "../cellgate";
import { codeOrReason } from "./model/sessionResults";
import { showProgress, inform } from "../notices";
import { dataOf, isBinary, recordsOf } from "./journal";
import { notebookOf } from "./model/notebook";
import { notebookType, sessionOf } from "./resultsUri";

export function exporting(cellgate: Cellgate): vscode.Disposable {
    return vscode.commands.registerCommand("cellgate.exportResults", async () => {
        const notebook = vscode.window.activeNotebookEditor?.notebook;
        const shown = notebook?.notebookType === notebookType ? notebook : vscode.workspace.notebookDocuments.find(isResults);
        const sessionId = shown && sessionOf(shown.uri);
        if (sessionId === undefined) {
            void inform("cellgate: there are no results open to export. Run a cell first.");
            return;
        }
        const name = `${basename(sessionId).replace(/\.py-[0-9a-f]{8}$/, "")}.ipynb`;
        const target = await vscode.window.showSaveDialog({
            defaultUri: vscode.Uri.joinPath(cellgate.root, name),
            filters: { "Jupyter notebook": ["ipynb"] },
            title: "Export results",
        });
        if (!target) return;
        await showProgress("cellgate: exporting results", async () => {
            const text = await exported(cellgate, sessionId);
            await vscode.workspace.fs.writeFile(target, Buffer.from(text));
        });
        void inform(`cellgate: the results are in ${vscode.workspace.asRelativePath(target)}`);
    });
}

const isResults = ({ notebookType: type }: vscode.NotebookDocument) => type === notebookType;

/** All executions of the session that there are, also those whose results are not shown any more. */
async function exported({ executions, sessions }: Cellgate, sessionId: string): Promise<string> {
    const kernel = sessions.get(sessionId)?.kernel;
    const ran = executions.all().filter((each) => each.sessionId === sessionId);
    const codes = await Promise.all(ran.map((execution) => codeOrReason(executions, execution)));
    return notebookOf(
        ran.map((execution, index) => ({
            id: execution.id,
            code: codes[index] ?? "",
            executionCount: execution.result?.executionCount ?? null,
            records: recordsOf(executions, execution.id),
            load: async (record, mime) => {
                const data = await dataOf(record, mime);
                if (isBinary(mime)) return data.toString("base64");
                return /[/+]json$/.test(mime) ? (JSON.parse(data.toString()) as unknown) : data.toString();
            },
        })),
        { name: kernel?.language ?? "python", version: kernel?.version },
    );
}
