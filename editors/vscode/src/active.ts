// `active` is the file or notebook that the user works in, and its session: what the palette's commands and the status
// bar refer to. To the editor a notebook's cell is a document of its own; its code runs in the notebook's session.

import * as vscode from "vscode";
import type { Cellgate } from "./cellgate";
import { documentSelector } from "./cells/document";
import { sessionOf as sessionOfResults } from "./results/resultsUri";

export type Active =
    | { readonly kind: "file"; readonly document: vscode.TextDocument; readonly uri: vscode.Uri; readonly sessionId: string }
    /** A notebook that may run in cellgate, or one of results. */
    | { readonly kind: "notebook"; readonly uri: vscode.Uri; readonly sessionId: string };

export const ordinaryNotebooks = "jupyter-notebook";

export function active({ documents }: Pick<Cellgate, "documents">): Active | undefined {
    const notebook = vscode.window.activeNotebookEditor?.notebook;
    if (notebook) {
        const { uri, notebookType } = notebook;
        const own = notebookType === ordinaryNotebooks ? documents.sessionOf(uri.toString()) : undefined;
        const sessionId = sessionOfResults(uri) ?? own;
        return sessionId === undefined ? undefined : { kind: "notebook", uri, sessionId };
    }
    const document = vscode.window.activeTextEditor?.document;
    if (!document || vscode.languages.match(documentSelector, document) === 0) return undefined;
    return { kind: "file", document, uri: document.uri, sessionId: documents.sessionOf(document.uri.toString()) };
}

/** Another editor is active. */
export function onDidChangeActive(handler: () => void): vscode.Disposable {
    return vscode.Disposable.from(vscode.window.onDidChangeActiveTextEditor(handler), vscode.window.onDidChangeActiveNotebookEditor(handler));
}
