// `CodeDocuments` shows the code of an execution as a read-only document, for code that is in no file, such as an
// agent's.

import * as vscode from "vscode";
import type { Executions } from "../executions";

const scheme = "cellgate-code";

export class CodeDocuments implements vscode.TextDocumentContentProvider, vscode.Disposable {
    private readonly registration = vscode.workspace.registerTextDocumentContentProvider(scheme, this);

    constructor(private readonly executions: Executions) {}

    dispose(): void {
        this.registration.dispose();
    }

    /** Opens it at a line, counted from 0. */
    async show(executionId: string, line: number): Promise<void> {
        const uri = vscode.Uri.from({ scheme, path: `/${executionId}/code.py` });
        const document = await vscode.workspace.openTextDocument(uri);
        const place = new vscode.Position(Math.min(line, document.lineCount - 1), 0);
        await vscode.window.showTextDocument(document, { preview: true, selection: new vscode.Range(place, place) });
    }

    async provideTextDocumentContent({ path }: vscode.Uri): Promise<string> {
        const [, executionId = ""] = /^\/(.*)\/code\.py$/s.exec(path) ?? [];
        return this.executions.codeOf(this.executions.get(executionId) ?? { id: executionId, sessionId: "", state: "finished" });
    }
}
