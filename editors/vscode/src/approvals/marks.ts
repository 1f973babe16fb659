// `Marks` decorates the lines whose calls wait for the user, in all visible editors.

import * as vscode from "vscode";
import type { Approval } from "../protocol/messages";
import { escapeUnprintable } from "../text";
import type { SourceLine } from "./sources";

export class Marks implements vscode.Disposable {
    private readonly decoration: vscode.TextEditorDecorationType;

    constructor(folder: vscode.Uri) {
        this.decoration = vscode.window.createTextEditorDecorationType({
            isWholeLine: true,
            gutterIconPath: vscode.Uri.joinPath(folder, "media", "waiting.svg"),
            gutterIconSize: "contain",
            backgroundColor: new vscode.ThemeColor("editor.stackFrameHighlightBackground"),
            overviewRulerColor: new vscode.ThemeColor("editorOverviewRuler.warningForeground"),
            overviewRulerLane: vscode.OverviewRulerLane.Full,
        });
    }

    dispose(): void {
        this.decoration.dispose();
    }

    show(waiting: readonly { approval: Approval; source: SourceLine }[]): void {
        for (const editor of vscode.window.visibleTextEditors) {
            const uri = editor.document.uri.toString();
            const lines = new Map<number, Approval[]>();
            for (const { approval, source } of waiting) {
                // A line that reads otherwise now is not the one that calls.
                if (source.uri !== uri || source.changed) continue;
                lines.set(source.line, [...(lines.get(source.line) ?? []), approval]);
            }
            editor.setDecorations(this.decoration, [...lines].map(([line, approvals]) => mark(line, approvals)));
        }
    }
}

function mark(line: number, approvals: readonly Approval[]): vscode.DecorationOptions {
    const title = approvals[0]?.display[0] ?? "";
    const agents = new Set(approvals.flatMap(({ agent }) => (agent === undefined ? [] : [escapeUnprintable(agent)])));
    const what = approvals.length === 1 ? title : `${approvals.length} calls`;
    const by = agents.size > 0 ? `, by agent ${[...agents].join(", ")}` : "";
    const hover = new vscode.MarkdownString();
    hover.appendText(`${title}${by}\nwaits for your answer in the view Approvals`);
    return {
        range: new vscode.Range(line, 0, line, 0),
        hoverMessage: hover,
        renderOptions: {
            after: {
                contentText: escapeUnprintable(`waits for you: ${what}${by}`.slice(0, 120)),
                margin: "0 0 0 2em",
                color: new vscode.ThemeColor("editorWarning.foreground"),
                fontStyle: "italic",
            },
        },
    };
}
