// `EntryDocuments` shows an entry of the record as a read-only JSON document.

import * as vscode from "vscode";
import type { Sidecar } from "../client/sidecar";

const scheme = "cellgate-record";

export class EntryDocuments implements vscode.TextDocumentContentProvider, vscode.Disposable {
    private readonly registration = vscode.workspace.registerTextDocumentContentProvider(scheme, this);

    constructor(private readonly sidecar: Pick<Sidecar, "request">) {}

    dispose(): void {
        this.registration.dispose();
    }

    async show(seq: number): Promise<void> {
        const uri = vscode.Uri.from({ scheme, path: `/entry ${seq}.json` });
        await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(uri), { preview: true });
    }

    async provideTextDocumentContent({ path }: vscode.Uri): Promise<string> {
        const seq = Number(/\d+/.exec(path)?.[0]);
        const { entries } = await this.sidecar.request("record/query", { beforeSeq: seq + 1, limit: 1 });
        const entry = entries.find((each) => each.seq === seq);
        return entry ? `${JSON.stringify(entry, null, 4)}\n` : `The record has no entry ${seq}.\n`;
    }
}
