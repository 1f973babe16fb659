// What a person works in now, and the session that its code runs in: what the palette's commands and the status bar are
// about. A cell of a notebook is a document of its own to the editor; its code runs in the notebook's session.

import * as vscode from "vscode";
import type { Cellgate } from "./cellgate";
import { documentSelector } from "./cells/document";
import { sessionOf as sessionOfResults } from "./results/place";

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
