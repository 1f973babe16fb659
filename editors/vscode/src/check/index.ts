// `check` has the sidecar check the code of files and notebooks, by command, and when they are saved or run: the setting
// `cellgate.check`. Saving and running start no sidecar for it.

import * as vscode from "vscode";
import { active, ordinaryNotebooks } from "../active";
import type { Cellgate } from "../cellgate";
import { documentSelector, linesOf } from "../cells/document";
import { kernelLanguageOf } from "../cells/languages";
import { folderNotServed, isOtherFolder } from "../cells/otherFolder";
import type { Execution } from "../executions";
import { notebookOf } from "../notebooks/cellDocuments";
import { inform, showError, showProgress } from "../notices";
import { generateImported } from "../toolServers/generate";
import { Checker, type Checked } from "./checker";
import { Findings, wrappersCommand } from "./findings";
import { inContext, piecesOf } from "./pieces";

type When = "off" | "onSave" | "onRun";

/** What is saved as one. */
interface Target {
    readonly uri: vscode.Uri;
    /** Of a notebook, its cells with code. */
    readonly documents: readonly vscode.TextDocument[];
}

const restMilliseconds = 200;

export function check(cellgate: Cellgate): vscode.Disposable {
    const checks = new DocumentChecks(cellgate);
    const seen = new WeakSet<Execution>();
    return vscode.Disposable.from(
        checks,
        vscode.commands.registerCommand("cellgate.checkCode", () => checks.byCommand().catch(showError)),
        vscode.commands.registerCommand(wrappersCommand, (document: vscode.TextDocument, code: string) => checks.generateWrappers(document, code).catch(showError)),
        vscode.workspace.onDidSaveTextDocument((document) => checks.byItself("onSave", targetOf(document))),
        vscode.workspace.onDidSaveNotebookDocument((notebook) => checks.byItself("onSave", targetOfNotebook(notebook))),
        cellgate.executions.onDidChange((execution) => {
            if (seen.has(execution) || execution.state !== "queued" || !execution.cell) return;
            seen.add(execution);
            const { uri } = execution.cell;
            const document = vscode.workspace.textDocuments.find((each) => each.uri.toString() === uri);
            if (document) checks.byItself("onRun", targetOf(document));
        }),
    );
}

class DocumentChecks implements vscode.Disposable {
    private readonly checker: Checker;
    private readonly findings = new Findings();
    private readonly subscriptions: vscode.Disposable;

    constructor(private readonly cellgate: Cellgate) {
        this.checker = new Checker(cellgate.sidecar, cellgate.log);
        this.subscriptions = vscode.Disposable.from(
            this.findings,
            vscode.workspace.onDidCloseTextDocument(({ uri }) => this.checker.cancel(uri.toString())),
            vscode.workspace.onDidCloseNotebookDocument(({ uri }) => this.checker.cancel(uri.toString())),
        );
    }

    dispose(): void {
        this.subscriptions.dispose();
    }

    /** The active file or notebook; what came of it is said. */
    async byCommand(): Promise<void> {
        const target = activeTarget(this.cellgate);
        if (!target) return void inform("cellgate: Check Code is for an open file or notebook whose code can run.");
        if (isOtherFolder(this.cellgate, target.uri)) return;
        const checked = await showProgress("cellgate: checking code", () => this.check(target, 0));
        if (checked.kind === "unknown") void inform("cellgate: the sidecar that runs is of an older version, which does not check code.");
        if (checked.kind !== "checked") return;
        const count = checked.results.reduce((sum, { diagnostics }) => sum + diagnostics.length, 0);
        const checkers = [...new Set(checked.results.flatMap((each) => each.checkers))].join(", ");
        if (count > 0) await vscode.commands.executeCommand("workbench.actions.view.problems");
        else void inform(checkers === "" ? "cellgate: nothing here checks this code." : `cellgate: nothing was found by ${checkers}.`);
    }

    /** Those that `code` imports; what was missing is checked again. */
    async generateWrappers(document: vscode.TextDocument, code: string): Promise<void> {
        await generateImported(this.cellgate, code);
        const target = targetOf(document);
        if (target && !document.isClosed) await this.check(target, 0);
    }

    /** What goes wrong is in the log alone: the user did not ask for it. */
    byItself(when: When, target: Target | undefined): void {
        const { sidecar, log } = this.cellgate;
        if (!target || sidecar.state.kind !== "connected" || folderNotServed(this.cellgate, target.uri)) return;
        if (vscode.workspace.getConfiguration("cellgate", target.uri).get<When>("check") !== when) return;
        this.check(target, restMilliseconds).catch((error: unknown) => log.warn(`code was not checked: ${String(error)}`));
    }

    private async check(target: Target, rest: number): Promise<Checked> {
        let pieces: ReturnType<typeof this.piecesOf> = [];
        const read = () => {
            pieces = this.piecesOf(target);
            return inContext(pieces.map(({ params }) => params));
        };
        const checked = await this.checker.check(target.uri.toString(), read, rest);
        if (checked.kind !== "checked") return checked;
        const found = pieces.map(({ line, document, version }, index) => ({ line, document, version, diagnostics: checked.results[index]?.diagnostics ?? [] }));
        for (const document of target.documents) {
            const ofDocument = found.filter((each) => each.document === document);
            // What was typed meanwhile has moved the places; the next save brings them.
            if (!document.isClosed && ofDocument.every(({ version }) => version === document.version)) this.findings.show(document, ofDocument);
        }
        return checked;
    }

    private piecesOf({ uri, documents: parts }: Target) {
        const { documents, sessions } = this.cellgate;
        return parts.flatMap((document) => {
            const own = kernelLanguageOf(document.languageId);
            return piecesOf(linesOf(document)).map(({ code, line, language = own }) => {
                const session = sessions.get(documents.sessionOf(uri.toString(), language === own ? undefined : language));
                const params = { code, language, ...(session ? { sessionId: session.sessionId } : {}) };
                return { params, line, document, version: document.version };
            });
        });
    }
}

function targetOf(document: vscode.TextDocument): Target | undefined {
    const notebook = notebookOf(document);
    if (notebook) return targetOfNotebook(notebook);
    return vscode.languages.match(documentSelector, document) > 0 ? { uri: document.uri, documents: [document] } : undefined;
}

function targetOfNotebook(notebook: vscode.NotebookDocument): Target | undefined {
    if (notebook.notebookType !== ordinaryNotebooks) return undefined;
    const cells = notebook.getCells().filter(({ kind }) => kind === vscode.NotebookCellKind.Code);
    return { uri: notebook.uri, documents: cells.map(({ document }) => document) };
}

function activeTarget(cellgate: Cellgate): Target | undefined {
    const here = active(cellgate);
    if (here?.kind === "file") return targetOf(here.document);
    const notebook = vscode.window.activeNotebookEditor?.notebook;
    return notebook && targetOfNotebook(notebook);
}
