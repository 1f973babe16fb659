// A file that gets another name or folder keeps its session: its kernel's variables are what its person made there.

import * as vscode from "vscode";
import type { Cellgate } from "./cellgate";

export function renames({ documents, executions, sessions }: Cellgate): vscode.Disposable {
    return vscode.workspace.onDidRenameFiles(async ({ files }) => {
        for (const { oldUri, newUri } of files) {
            const before = oldUri.toString();
            // Of a folder, the documents that anything ran of.
            const ran = new Set(executions.all().flatMap(({ cell }) => (cell?.uri.startsWith(`${before}/`) ? [cell.uri] : [])));
            for (const uri of new Set([before, ...ran])) {
                const sessionId = documents.sessionOf(uri);
                if (sessions.get(sessionId)) await documents.choose(newUri.toString() + uri.slice(before.length), sessionId);
            }
        }
    });
}
