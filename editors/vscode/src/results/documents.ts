// `ResultsDocuments` is the file system and the serializer of results notebooks. The editor reads such a file when it
// opens or restores its notebook, and again after each notification of a new result: a notebook that follows its file
// is never dirty. The output of a result in view comes through `live.ts`.

import * as vscode from "vscode";
import type { Executions } from "../executions";
import type { Sessions } from "../sessions";
import { editorLanguageOf } from "../cells/languages";
import { outputOf } from "./items";
import { SessionResults, type Result } from "./model/sessionResults";
import { notebookType, scheme, sessionOf, uriOf } from "./resultsUri";

/** A file's text: which results it shows. */
interface Listing {
    sessionId: string;
    /** The editor's name for that of its kernel. */
    language: string;
    executions: string[];
    /** How many are not shown any more. */
    earlier: number;
}

/** What a cell of a results notebook is the result of. */
export interface CellMetadata {
    executionId: string;
}

interface Entry {
    results: SessionResults;
    modified: number;
    /** The text that the editor read last. */
    listing: string;
    notifyTimer: NodeJS.Timeout | undefined;
    notifyChange: () => void;
    /** How far each result was when its cell was read. */
    read: Map<string, number>;
}

export class ResultsDocuments implements vscode.FileSystemProvider, vscode.NotebookSerializer, vscode.Disposable {
    private readonly sessions = new Map<string, Entry>();
    private readonly changed = new vscode.EventEmitter<vscode.FileChangeEvent[]>();
    readonly onDidChangeFile = this.changed.event;
    private readonly opened = new vscode.EventEmitter<SessionResults>();
    /** The results of a session are followed from now on. */
    readonly onDidOpen = this.opened.event;
    private readonly registrations: vscode.Disposable;

    constructor(
        private readonly executions: Executions,
        private readonly kernels: Pick<Sessions, "get" | "onDidChange">,
    ) {
        this.registrations = vscode.Disposable.from(
            vscode.workspace.registerFileSystemProvider(scheme, this, { isCaseSensitive: true, isReadonly: true }),
            vscode.workspace.registerNotebookSerializer(notebookType, this, { transientOutputs: true }),
            vscode.workspace.onDidCloseNotebookDocument(({ uri }) => this.close(uri)),
            kernels.onDidChange(() => {
                for (const { notifyChange } of this.sessions.values()) notifyChange();
            }),
        );
    }

    dispose(): void {
        this.registrations.dispose();
        for (const { results, notifyTimer } of this.sessions.values()) {
            results.dispose();
            clearTimeout(notifyTimer);
        }
        this.changed.dispose();
        this.opened.dispose();
    }

    resultsOf(sessionId: string): SessionResults {
        return this.entry(sessionId).results;
    }

    resultOf(cell: vscode.NotebookCell): Result | undefined {
        const { executionId } = cell.metadata as Partial<CellMetadata>;
        const sessionId = sessionOf(cell.notebook.uri);
        return executionId === undefined || sessionId === undefined ? undefined : this.resultsOf(sessionId).get(executionId);
    }

    /** Whether the editor has read the result as it is now. */
    isAsRead({ execution, revision }: Result): boolean {
        return this.sessions.get(execution.sessionId)?.read.get(execution.id) === revision;
    }

    private entry(sessionId: string): Entry {
        const known = this.sessions.get(sessionId);
        if (known) return known;
        const results = new SessionResults(sessionId, this.executions);
        // Executions that begin together are one notification.
        const notifyChange = () => {
            entry.notifyTimer ??= setTimeout(() => {
                entry.notifyTimer = undefined;
                if (entry.listing === this.listingOf(results)) return;
                entry.modified = Math.max(Date.now(), entry.modified + 1);
                this.changed.fire([{ type: vscode.FileChangeType.Changed, uri: uriOf(sessionId) }]);
            });
        };
        const entry: Entry = { results, modified: Date.now(), listing: "", notifyTimer: undefined, notifyChange, read: new Map() };
        this.sessions.set(sessionId, entry);
        results.onDidExtend(notifyChange);
        results.onDidClear(notifyChange);
        this.opened.fire(results);
        return entry;
    }

    private close(uri: vscode.Uri): void {
        const sessionId = sessionOf(uri);
        const entry = sessionId === undefined ? undefined : this.sessions.get(sessionId);
        if (sessionId === undefined || !entry) return;
        entry.results.dispose();
        clearTimeout(entry.notifyTimer);
        this.sessions.delete(sessionId);
    }

    private listingOf(results: SessionResults): string {
        const { sessionId, earlier } = results;
        const executions = results.all().map(({ execution }) => execution.id);
        // Not known before the kernel has started.
        const language = editorLanguageOf(this.kernels.get(sessionId)?.kernel.language ?? "python");
        return JSON.stringify({ sessionId, language, executions, earlier } satisfies Listing);
    }

    // --- files

    watch(): vscode.Disposable {
        return new vscode.Disposable(() => undefined);
    }

    stat(uri: vscode.Uri): vscode.FileStat {
        const sessionId = sessionOf(uri);
        if (sessionId === undefined) throw vscode.FileSystemError.FileNotFound(uri);
        const { results, modified } = this.entry(sessionId);
        return { type: vscode.FileType.File, ctime: 0, mtime: modified, size: this.listingOf(results).length };
    }

    readFile(uri: vscode.Uri): Uint8Array {
        const sessionId = sessionOf(uri);
        if (sessionId === undefined) throw vscode.FileSystemError.FileNotFound(uri);
        const entry = this.entry(sessionId);
        entry.listing = this.listingOf(entry.results);
        return Buffer.from(entry.listing);
    }

    readDirectory(): [string, vscode.FileType][] {
        return [];
    }

    writeFile(uri: vscode.Uri): void {
        throw vscode.FileSystemError.NoPermissions(uri);
    }

    createDirectory(uri: vscode.Uri): void {
        throw vscode.FileSystemError.NoPermissions(uri);
    }

    delete(uri: vscode.Uri): void {
        throw vscode.FileSystemError.NoPermissions(uri);
    }

    rename(uri: vscode.Uri): void {
        throw vscode.FileSystemError.NoPermissions(uri);
    }

    // --- notebooks

    deserializeNotebook(content: Uint8Array): vscode.NotebookData {
        const { sessionId, language, executions, earlier } = JSON.parse(Buffer.from(content).toString()) as Listing;
        const entry = this.sessions.get(sessionId);
        // Such as a file of another program with this extension.
        if (!entry) throw new Error("these are not the results of a session here");
        entry.read.clear();
        const cells = executions.flatMap((id) => {
            const result = entry.results.get(id);
            if (!result) return [];
            entry.read.set(id, result.revision);
            return [cellOf(result, language)];
        });
        return new vscode.NotebookData(earlier > 0 ? [earlierCell(earlier), ...cells] : cells);
    }

    serializeNotebook(): Uint8Array {
        throw new Error("results cannot be saved in place: export them");
    }
}

function earlierCell(earlier: number): vscode.NotebookCellData {
    const results = earlier === 1 ? "One earlier result is" : `${earlier} earlier results are`;
    const text = `*${results} not shown. **Export Results to Notebook…** writes all that this window knows of.*`;
    return new vscode.NotebookCellData(vscode.NotebookCellKind.Markup, text, "markdown");
}

function cellOf({ execution, code, outputs }: Result, language: string): vscode.NotebookCellData {
    const cell = new vscode.NotebookCellData(vscode.NotebookCellKind.Code, code, language);
    cell.metadata = { executionId: execution.id } satisfies CellMetadata;
    cell.outputs = outputs.shown.map((shown) => outputOf(shown, execution.id));
    if (execution.state === "finished") cell.executionSummary = summaryOf(execution);
    return cell;
}

function summaryOf({ result, startedAt }: Result["execution"]): vscode.NotebookCellExecutionSummary {
    return {
        executionOrder: result?.executionCount ?? undefined,
        success: result?.status === "ok",
        timing: startedAt === undefined || !result ? undefined : { startTime: startedAt, endTime: startedAt + result.durationSeconds * 1000 },
    };
}
