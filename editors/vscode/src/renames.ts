// `renames` keeps the session of a file that is renamed or moved, because the kernel has the user's variables.

import * as vscode from "vscode";
import type { Cellgate } from "./cellgate";
import { parsedUri } from "./uris";

export function renames({ documents, executions, sessions }: Cellgate): vscode.Disposable {
    return vscode.workspace.onDidRenameFiles(async ({ files }) => {
        const ran = new Set(executions.all().flatMap(({ cell }) => (cell ? [fileOf(cell.uri)] : [])));
        for (const { oldUri, newUri } of files) {
            const before = oldUri.toString();
            // Of a folder, the documents that anything ran of.
            const below = [...ran].filter((uri) => uri.startsWith(`${before}/`));
            for (const uri of [before, ...below]) {
                if (sessions.get(documents.sessionOf(uri))) await documents.move(uri, newUri.toString() + uri.slice(before.length));
            }
        }
    });
}

/** A notebook's cell is a document of its own, at the notebook's path. */
function fileOf(uri: string): string {
    const parsed = uri.startsWith("vscode-notebook-cell:") ? parsedUri(uri) : undefined;
    return parsed ? parsed.with({ scheme: "file", fragment: "" }).toString() : uri;
}
