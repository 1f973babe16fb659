// From what a result shows to the editor's own outputs. Text, colours and images are the editor's to show; the rest has
// types of our own, which only our renderer takes: no other one, which may run scripts, is ever given HTML of a cell.

import * as vscode from "vscode";
import { visible } from "../text";
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
                uri === undefined ? [] : [{ index, place: `${documentName(uri, false)}:${line + 1}`, name: visible(name) }],
            );
            return [json(mimes.error, { executionId, text, frames })];
        }
        case "omitted":
            return [json(mimes.omitted, { executionId, bytes: shown.bytes, outputs: shown.outputs })];
        case "notes":
            return [json(mimes.notes, { notes: shown.notes })];
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
