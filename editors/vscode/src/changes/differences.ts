// `Differences` opens a changed file as a difference: of before and after, or of after and now. What the sidecar keeps is
// a read-only document; where there was no file, an empty one.

import * as vscode from "vscode";
import type { Sidecar } from "../client/sidecar";
import { inform } from "../notices";
import type { ChangedFile, ChangeSide, ChangesReadParams } from "../protocol/messages";
import { label } from "../text";
import { fileText } from "./labels";

const scheme = "cellgate-changes";

export class Differences implements vscode.TextDocumentContentProvider, vscode.Disposable {
    private readonly registration = vscode.workspace.registerTextDocumentContentProvider(scheme, this);

    constructor(
        private readonly sidecar: Pick<Sidecar, "request">,
        private readonly root: vscode.Uri,
    ) {}

    dispose(): void {
        this.registration.dispose();
    }

    async provideTextDocumentContent({ query }: vscode.Uri): Promise<string> {
        if (query === "") return "";
        return (await this.sidecar.request("changes/read", JSON.parse(query) as ChangesReadParams)).text ?? "";
    }

    /** What the execution changed in it. */
    async show(executionId: string, file: ChangedFile): Promise<void> {
        if (!(await this.isText(executionId, file, "before", "after"))) return;
        await this.open(uriOf(executionId, file, "before"), uriOf(executionId, file, "after"), `${label(file.path)} (before ↔ after)`);
    }

    /** What was changed in it since. */
    async showSince(executionId: string, file: ChangedFile): Promise<void> {
        if (!(await this.isText(executionId, file, "after"))) return;
        const now = vscode.Uri.joinPath(this.root, file.path);
        const isThere = await vscode.workspace.fs.stat(now).then(() => true, () => false);
        await this.open(uriOf(executionId, file, "after"), isThere ? now : emptyUri(file.path), `${label(file.path)} (after the cell ↔ now)`);
    }

    private async open(left: vscode.Uri, right: vscode.Uri, title: string): Promise<void> {
        await vscode.commands.executeCommand("vscode.diff", left, right, title, { preview: true });
    }

    /** Otherwise a message says so. */
    private async isText(executionId: string, file: ChangedFile, ...sides: ChangeSide[]): Promise<boolean> {
        const { path } = file;
        const contents = await Promise.all(sides.map((side) => this.sidecar.request("changes/read", { executionId, path, side })));
        if (contents.every(({ base64 }) => base64 === undefined)) return true;
        void inform(`cellgate: ${path} is not text (${fileText(file)}).`);
        return false;
    }
}

/** By its path, the editor knows the file's language. */
const emptyUri = (path: string) => vscode.Uri.from({ scheme, path: `/${path}` });

function uriOf(executionId: string, { path }: ChangedFile, side: ChangeSide): vscode.Uri {
    return emptyUri(path).with({ query: JSON.stringify({ executionId, path, side } satisfies ChangesReadParams) });
}
