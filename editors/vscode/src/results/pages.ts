// `OutputPages` shows the whole output of an execution as text documents of about a megabyte, read from the journal.
// Outputs that are not text are named only.

import * as vscode from "vscode";
import type { Executions } from "../executions";
import { TextOfRecords } from "./model/recordText";

const scheme = "cellgate-output";
const pageBytes = 1 << 20;

export class OutputPages implements vscode.TextDocumentContentProvider, vscode.CodeLensProvider, vscode.Disposable {
    /** For each execution the first record of each page, as far as that was found out; the end is `undefined`. */
    private readonly starts = new Map<string, (number | undefined)[]>();
    private readonly changed = new vscode.EventEmitter<void>();
    readonly onDidChangeCodeLenses = this.changed.event;
    private readonly registrations: vscode.Disposable;

    constructor(private readonly executions: Executions) {
        this.registrations = vscode.Disposable.from(
            vscode.workspace.registerTextDocumentContentProvider(scheme, this),
            vscode.languages.registerCodeLensProvider({ scheme }, this),
            vscode.commands.registerCommand("cellgate.showOutputPage", (id: string, page: number) => this.show(id, page)),
        );
    }

    dispose(): void {
        this.registrations.dispose();
        this.changed.dispose();
    }

    async show(executionId: string, page = 1): Promise<void> {
        const uri = vscode.Uri.from({ scheme, path: `/${executionId}/output, page ${page}.txt` });
        await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(uri), { preview: true });
    }

    async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
        const { executionId, page } = placeOf(uri);
        const starts = this.starts.get(executionId) ?? [0];
        this.starts.set(executionId, starts);
        // Those before a page that was restored have to be read to know where it begins.
        for (let before = starts.length; before < page; before++) await this.read(executionId, before, starts);
        const text = await this.read(executionId, page, starts);
        this.changed.fire();
        return text;
    }

    private async read(executionId: string, page: number, starts: (number | undefined)[]): Promise<string> {
        let next = starts[page - 1];
        if (next === undefined) return "";
        const text = new TextOfRecords();
        for (;;) {
            const read = await this.executions.read(executionId, next);
            for (const record of read.records) {
                if (text.bytes >= pageBytes) break;
                text.add(record);
                next = record.seq + record.count;
            }
            const isEnd = next >= read.nextSeq && (read.complete || read.records.length === 0);
            if (isEnd || text.bytes >= pageBytes) {
                starts[page] = isEnd ? undefined : next;
                return text.text;
            }
        }
    }

    provideCodeLenses({ uri }: vscode.TextDocument): vscode.CodeLens[] {
        const { executionId, page } = placeOf(uri);
        const range = new vscode.Range(0, 0, 0, 0);
        const lens = (title: string, other: number) =>
            new vscode.CodeLens(range, { title, command: "cellgate.showOutputPage", arguments: [executionId, other] });
        return [
            ...(page > 1 ? [lens("$(arrow-left) Previous Page", page - 1)] : []),
            ...(this.starts.get(executionId)?.[page] === undefined ? [] : [lens("Next Page $(arrow-right)", page + 1)]),
        ];
    }
}

function placeOf(uri: vscode.Uri): { executionId: string; page: number } {
    const [, executionId = "", page = "1"] = /^\/(.*)\/output, page (\d+)\.txt$/.exec(uri.path) ?? [];
    return { executionId, page: Number(page) };
}
