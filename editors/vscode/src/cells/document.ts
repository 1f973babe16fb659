// These functions select the documents that can have cells, and read their lines.

import type * as vscode from "vscode";

export const documentSelector: vscode.DocumentSelector = [
    { language: "python", scheme: "file" },
    { language: "python", scheme: "untitled" },
];

export function linesOf(document: vscode.TextDocument): string[] {
    return document.getText().split(/\r\n|\r|\n/);
}
