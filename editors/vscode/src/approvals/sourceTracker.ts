// `SourceTracker` is the record of where the lines that make the waiting calls are now, in the documents that are open.

import * as vscode from "vscode";
import type { Cellgate } from "../cellgate";
import { sourceOf, type Caller, type SourceLine } from "./sources";
import type { Waiting, Waits } from "./waiting";

function textAt(uri: string, line: number): string | undefined {
    const document = vscode.workspace.textDocuments.find((each) => each.uri.toString() === uri);
    return document && (line < document.lineCount ? document.lineAt(line).text : "");
}

export class SourceTracker {
    private known = "";

    constructor(
        private readonly cellgate: Pick<Cellgate, "executions" | "anchors">,
        private readonly waiting: Waiting,
    ) {}

    sourceOf(caller: Caller): SourceLine | undefined {
        return sourceOf(caller, this.cellgate.executions, this.cellgate.anchors, textAt);
    }

    /** The waiting calls whose line is known. */
    all(): { waits: Waits; source: SourceLine }[] {
        return this.waiting.all().flatMap((waits) => {
            const source = this.sourceOf(waits);
            return source ? [{ waits, source }] : [];
        });
    }

    /** Whether a line of a waiting call is in the document, as the code reported it. */
    concerns(document: vscode.TextDocument): boolean {
        return this.waiting.all().some(({ origin }) => origin?.uri === document.uri.toString());
    }

    /**
     * Whether a line moved or changed since this was last asked. Most edits touch no calling line: then the page gets no
     * message, because each message closes its guard.
     */
    hasMoved(): boolean {
        const before = this.known;
        this.known = JSON.stringify(this.waiting.all().map((caller) => this.sourceOf(caller) ?? null));
        return this.known !== before;
    }
}
