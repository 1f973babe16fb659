// These functions convert URIs from outside the editor: code names its files by path, agents name documents of their
// own, and the editor does not accept every text as a URI.

import * as vscode from "vscode";
import { escapeUnprintable } from "./text";

/** Undefined of a text that the editor takes for no URI. */
export function parsedUri(text: string): vscode.Uri | undefined {
    try {
        return vscode.Uri.parse(text, true);
    } catch {
        return undefined;
    }
}

/** How a user knows the document: its path below the workspace, else its whole path; of no URI, the text. */
export function documentName(uri: string, includeFolder?: boolean): string {
    const parsed = parsedUri(uri);
    return escapeUnprintable(parsed ? vscode.workspace.asRelativePath(parsed, includeFolder) : uri);
}

// Others have more behind their names than text.
const schemesOfDocuments = ["file", "untitled", "vscode-remote", "vscode-notebook-cell"];

/** The URI of a document in which code can be. Throws, for a user, where the text is none. */
export function documentUri(text: string): vscode.Uri {
    const uri = parsedUri(text);
    if (!uri || !schemesOfDocuments.includes(uri.scheme)) throw new Error(`cellgate opens no documents of this kind: ${escapeUnprintable(text.slice(0, 200))}`);
    return uri;
}
