// These functions select the documents that can have cells, and read their lines.

import type * as vscode from "vscode";
import { editorLanguages } from "./languages";

export const documentSelector: vscode.DocumentSelector = editorLanguages.flatMap((language) => [
    { language, scheme: "file" },
    { language, scheme: "untitled" },
]);

export function linesOf(document: vscode.TextDocument): string[] {
    return document.getText().split(/\r\n|\r|\n/);
}
