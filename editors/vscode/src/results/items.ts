// `outputOf` makes the editor's outputs from shown outputs. The editor shows text, colours and images itself;
// everything else has cellgate's own types, which only cellgate's renderer accepts: other renderers, which may run
// scripts, never get a cell's HTML.

import * as vscode from "vscode";
import { escapeUnprintable } from "../text";
import { documentName } from "../uris";
import { mimes, type LargeItem, type MarkupItem, type NotesItem, type OmittedItem, type ErrorItem } from "./messages";
import type { Content, Shown } from "./model/shown";

/** One of the editor's outputs; its id is made by the editor, so that it is kept to change it later. */
export function outputOf(shown: Shown, executionId: string, also?: "plain text too"): vscode.NotebookCellOutput {
    const items = itemsOf(shown, executionId);
    // For who reads a notebook's file without our renderer.
    if (also && shown.kind === "data" && shown.content.kind === "markup") {
        items.push(vscode.NotebookCellOutputItem.text(shown.content.plain, "text/plain"));
    }
    return new vscode.NotebookCellOutput(items);
}

function itemsOf(shown: Shown, executionId: string): vscode.NotebookCellOutputItem[] {
    const { NotebookCellOutputItem } = vscode;
    switch (shown.kind) {
        case "stream":
            return [shown.name === "stdout" ? NotebookCellOutputItem.stdout(shown.text) : NotebookCellOutputItem.stderr(shown.text)];
        case "data":
            return contentItems(shown.content, executionId, shown.seq);
        case "error": {
            const { text } = shown;
            const frames = shown.frames.flatMap(({ uri, line, function: name }, index) =>
                uri === undefined ? [] : [{ index, place: `${documentName(uri, false)}:${line + 1}`, name: escapeUnprintable(name) }],
            );
            return [json(mimes.error, { executionId, text, frames })];
        }
        case "omitted":
            return [json(mimes.omitted, { executionId, bytes: shown.bytes, outputs: shown.outputs })];
        case "notes":
            return [json(mimes.notes, { executionId, notes: shown.notes })];
    }
}

function contentItems(content: Content, executionId: string, seq: number): vscode.NotebookCellOutputItem[] {
    switch (content.kind) {
        case "markup":
            return [json(mimes.markup, { executionId, seq, language: content.language, text: content.text })];
        case "image":
            return [new vscode.NotebookCellOutputItem(Buffer.from(content.base64, "base64"), content.mime)];
        case "json":
            return [vscode.NotebookCellOutputItem.json(content.value, mimes.json)];
        case "text": {
            const text = [content.why, content.text].filter((each) => each).join("\n");
            return [vscode.NotebookCellOutputItem.text(text, "text/plain")];
        }
        case "large":
            return [json(mimes.large, { executionId, seq, mime: content.mime, bytes: content.bytes })];
    }
}

function json(mime: string, value: MarkupItem | ErrorItem | LargeItem | OmittedItem | NotesItem): vscode.NotebookCellOutputItem {
    return vscode.NotebookCellOutputItem.json(value, mime);
}
