// `results` registers the notebooks that show the output of cells, next to the editor.

import * as vscode from "vscode";
import type { Cellgate } from "../cellgate";
import { ResultsDocuments } from "./documents";
import { exporting } from "./export";
import { links } from "./links";
import { Live } from "./live";
import { OutputPages } from "./pages";
import { rendererHost } from "./rendererHost";

export function results(cellgate: Cellgate): vscode.Disposable {
    const documents = new ResultsDocuments(cellgate.executions, cellgate.sessions);
    const pages = new OutputPages(cellgate.executions);
    return vscode.Disposable.from(
        documents,
        new Live(cellgate, documents),
        links(cellgate, documents, pages),
        pages,
        rendererHost(cellgate, pages),
        exporting(cellgate),
    );
}
