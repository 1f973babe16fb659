// `Marks` decorates the lines whose calls wait for the user, in all visible editors.

import * as vscode from "vscode";
import { escapeUnprintable } from "../text";
import { isElicitation, titleOfElicitation } from "./elicitations";
import type { SourceTracker } from "./sourceTracker";
import type { Waits } from "./waiting";

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

    show(waiting: ReturnType<SourceTracker["all"]>): void {
        for (const editor of vscode.window.visibleTextEditors) {
            const uri = editor.document.uri.toString();
            const lines = new Map<number, Waits[]>();
            for (const { waits, source } of waiting) {
                // A line that reads otherwise now is not the one that calls.
                if (source.uri !== uri || source.changed) continue;
                lines.set(source.line, [...(lines.get(source.line) ?? []), waits]);
            }
            editor.setDecorations(this.decoration, [...lines].map(([line, all]) => mark(line, all)));
        }
    }
}

/** In one line. */
function titleOf(waits: Waits | undefined): string {
    if (!waits) return "";
    return isElicitation(waits) ? titleOfElicitation(waits) : (waits.display[0] ?? "");
}

function mark(line: number, waiting: readonly Waits[]): vscode.DecorationOptions {
    const title = titleOf(waiting[0]);
    const agents = new Set(waiting.flatMap(({ agent }) => (agent === undefined ? [] : [escapeUnprintable(agent)])));
    const what = waiting.length === 1 ? title : `${waiting.length} calls`;
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
