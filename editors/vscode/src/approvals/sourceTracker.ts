// `SourceTracker` is the record of where the lines that make the waiting calls are now, in the documents that are open.

import * as vscode from "vscode";
import type { Cellgate } from "../cellgate";
import type { Approval } from "../protocol/messages";
import { sourceOf, type SourceLine } from "./sources";

function textAt(uri: string, line: number): string | undefined {
    const document = vscode.workspace.textDocuments.find((each) => each.uri.toString() === uri);
    return document && (line < document.lineCount ? document.lineAt(line).text : "");
}

export class SourceTracker {
    private known = "";

    constructor(private readonly cellgate: Pick<Cellgate, "pending" | "executions" | "anchors">) {}

    sourceOf(approval: Approval): SourceLine | undefined {
        return sourceOf(approval, this.cellgate.executions, this.cellgate.anchors, textAt);
    }

    /** The waiting calls whose line is known. */
    all(): { approval: Approval; source: SourceLine }[] {
        return this.cellgate.pending.all().flatMap((approval) => {
            const source = this.sourceOf(approval);
            return source ? [{ approval, source }] : [];
        });
    }

    /** Whether a line of a waiting call is in the document, as the code reported it. */
    concerns(document: vscode.TextDocument): boolean {
        return this.cellgate.pending.all().some(({ origin }) => origin?.uri === document.uri.toString());
    }

    /**
     * Whether a line moved or changed since this was last asked. Most edits touch no calling line: then the page gets no
     * message, because each message closes its guard.
     */
    hasMoved(): boolean {
        const before = this.known;
        this.known = JSON.stringify(this.cellgate.pending.all().map((approval) => this.sourceOf(approval) ?? null));
        return this.known !== before;
    }
}
