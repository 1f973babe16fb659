// `Differences` opens a changed file as a difference: of before and after, or of after and now. What the sidecar keeps is
// a read-only file; where there was none, an empty one.

import * as vscode from "vscode";
import type { Sidecar } from "../client/sidecar";
import { inform } from "../notices";
import type { ChangedFile, ChangeSide, ChangesReadParams } from "../protocol/messages";
import { label } from "../text";
import { fileText } from "./labels";

const scheme = "cellgate-changes";

export class Differences implements vscode.Disposable {
    private readonly registration: vscode.Disposable;

    constructor(
        private readonly sidecar: Pick<Sidecar, "request">,
        private readonly root: vscode.Uri,
    ) {
        const files = new KeptFiles(async ({ query }) => {
            if (query === "") return new Uint8Array();
            const { text, base64 } = await sidecar.request("changes/read", JSON.parse(query) as ChangesReadParams);
            return base64 === undefined ? new TextEncoder().encode(text) : Buffer.from(base64, "base64");
        });
        this.registration = vscode.workspace.registerFileSystemProvider(scheme, files, { isReadonly: true });
    }

    dispose(): void {
        this.registration.dispose();
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

/** Files that can only be read: a notebook's difference is shown by cells only where both sides are files. */
class KeptFiles implements vscode.FileSystemProvider {
    readonly onDidChangeFile = new vscode.EventEmitter<vscode.FileChangeEvent[]>().event;

    constructor(readonly readFile: (uri: vscode.Uri) => Promise<Uint8Array>) {}

    async stat(uri: vscode.Uri): Promise<vscode.FileStat> {
        return { type: vscode.FileType.File, ctime: 0, mtime: 0, size: (await this.readFile(uri)).length };
    }

    watch = () => new vscode.Disposable(() => undefined);
    readDirectory = onlyReads;
    createDirectory = onlyReads;
    writeFile = onlyReads;
    delete = onlyReads;
    rename = onlyReads;
}

function onlyReads(uri: vscode.Uri): never {
    throw vscode.FileSystemError.NoPermissions(uri);
}

/** By its path, the editor knows the file's language. */
const emptyUri = (path: string) => vscode.Uri.from({ scheme, path: `/${path}` });

function uriOf(executionId: string, { path }: ChangedFile, side: ChangeSide): vscode.Uri {
    return emptyUri(path).with({ query: JSON.stringify({ executionId, path, side } satisfies ChangesReadParams) });
}
