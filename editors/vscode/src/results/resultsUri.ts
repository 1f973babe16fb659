// These functions name the results document of a session. The file has no content of its own: it lists the executions
// whose results it shows, and these come from the journal.

import * as vscode from "vscode";

export const notebookType = "cellgate-results";
export const scheme = "cellgate-results";

const extension = ".cellgate-results";

export function uriOf(sessionId: string): vscode.Uri {
    return vscode.Uri.from({ scheme, path: `/${sessionId}${extension}` });
}

/** Undefined for documents that are not ours, whatever their name. */
export function sessionOf(uri: vscode.Uri): string | undefined {
    return uri.scheme === scheme && uri.path.endsWith(extension) ? uri.path.slice(1, -extension.length) : undefined;
}
