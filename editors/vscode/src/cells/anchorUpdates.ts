// `anchorUpdates` moves the anchors of executions along with the edits of their documents.

import * as vscode from "vscode";
import type { Cellgate } from "../cellgate";

export function anchorUpdates({ anchors, executions }: Pick<Cellgate, "anchors" | "executions">): vscode.Disposable {
    return vscode.Disposable.from(
        vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
            for (const { range, text } of contentChanges) {
                anchors.edit(document.uri.toString(), {
                    firstLine: range.start.line,
                    lastLine: range.end.line,
                    newBreaks: text.split(/\r\n|\r|\n/).length - 1,
                });
            }
        }),
        executions.onDidChange(({ id, cell }) => {
            // Of an execution that another window or an earlier one began, only the first line is known.
            if (cell && !anchors.knows(cell.uri, id)) anchors.add(cell.uri, id, cell.line, 1);
        }),
    );
}
