// `Findings` shows what checks found as the editor's diagnostics, with quick fixes: the edits that a checker knows, the
// install of a package that is missing, and the wrappers of a tool server that are.

import * as vscode from "vscode";
import { linesOf } from "../cells/document";
import { codeSelector } from "../notebooks/cellDocuments";
import type { Diagnostic } from "../protocol/messages";
import { escapeUnprintable, label } from "../text";
import { spanIn, titleOfEdits, type Span } from "./positions";
import { isOfWrappers } from "./wrappers";

const source = "cellgate";
const installCommand = "cellgate.installPackages";
/** Not in the palette: of a document, and its code with the import. */
export const wrappersCommand = "cellgate.generateImportedWrappers";

const severities: Record<Diagnostic["severity"], vscode.DiagnosticSeverity> = {
    error: vscode.DiagnosticSeverity.Error,
    warning: vscode.DiagnosticSeverity.Warning,
    info: vscode.DiagnosticSeverity.Information,
};

/** What was found in code that begins at line `line` of the document. */
export interface PieceFindings {
    readonly line: number;
    readonly diagnostics: readonly Diagnostic[];
}

interface Finding {
    readonly shown: vscode.Diagnostic;
    readonly diagnostic: Diagnostic;
    readonly edits: vscode.TextEdit[];
}

interface Entry {
    /** Of the document: its edits fit no other one. */
    readonly version: number;
    readonly findings: Finding[];
}

const rangeOf = ({ start, end }: Span) => new vscode.Range(start.line, start.character, end.line, end.character);

export class Findings implements vscode.CodeActionProvider, vscode.Disposable {
    private readonly collection = vscode.languages.createDiagnosticCollection(source);
    private readonly entries = new Map<string, Entry>();
    private readonly subscriptions: vscode.Disposable;

    constructor() {
        this.subscriptions = vscode.Disposable.from(
            this.collection,
            vscode.languages.registerCodeActionsProvider(codeSelector, this, { providedCodeActionKinds: [vscode.CodeActionKind.QuickFix] }),
            vscode.workspace.onDidCloseTextDocument((document) => this.clear(document)),
        );
    }

    dispose(): void {
        this.subscriptions.dispose();
    }

    /** In place of what was shown of the document before. */
    show(document: vscode.TextDocument, pieces: readonly PieceFindings[]): void {
        const lines = linesOf(document);
        const findings = pieces.flatMap(({ line, diagnostics }) => diagnostics.map((diagnostic) => findingIn(lines, line, diagnostic)));
        this.entries.set(document.uri.toString(), { version: document.version, findings });
        this.collection.set(document.uri, findings.map(({ shown }) => shown));
    }

    clear({ uri }: vscode.TextDocument): void {
        this.entries.delete(uri.toString());
        this.collection.delete(uri);
    }

    async provideCodeActions(document: vscode.TextDocument, _range: vscode.Range, { diagnostics }: vscode.CodeActionContext): Promise<vscode.CodeAction[]> {
        const ours = diagnostics.filter((each) => each.source === source);
        const entry = this.entries.get(document.uri.toString());
        if (!entry || ours.length === 0) return [];
        const canInstall = (await vscode.commands.getCommands(true)).includes(installCommand);
        return ours.flatMap((shown) => {
            const isUnchanged = document.version === entry.version;
            const found = entry.findings.find((each) => isSame(each.shown, shown) && (!isUnchanged || each.shown.range.isEqual(shown.range)));
            if (!found) return [];
            const install = canInstall ? found.diagnostic.install : undefined;
            return [
                ...(isUnchanged && found.edits.length > 0 ? [editAction(document, shown, found)] : []),
                ...(install ? [installAction(shown, install)] : []),
                ...(isOfWrappers(found.diagnostic) ? [wrappersAction(document, shown)] : []),
            ];
        });
    }
}

// The editor gives back copies.
function isSame(one: vscode.Diagnostic, other: vscode.Diagnostic): boolean {
    return one.code === other.code && one.message === other.message;
}

function findingIn(lines: readonly string[], firstLine: number, diagnostic: Diagnostic): Finding {
    const shown = new vscode.Diagnostic(rangeOf(spanIn(lines, firstLine, diagnostic)), escapeUnprintable(diagnostic.message), severities[diagnostic.severity]);
    shown.source = source;
    shown.code = escapeUnprintable(diagnostic.rule);
    const edits = (diagnostic.edits ?? []).map((edit) => new vscode.TextEdit(rangeOf(spanIn(lines, firstLine, edit)), edit.newText));
    return { shown, diagnostic, edits };
}

function quickFix(title: string, shown: vscode.Diagnostic): vscode.CodeAction {
    const action = new vscode.CodeAction(title, vscode.CodeActionKind.QuickFix);
    action.diagnostics = [shown];
    return action;
}

function editAction(document: vscode.TextDocument, shown: vscode.Diagnostic, { diagnostic, edits }: Finding): vscode.CodeAction {
    const action = quickFix(titleOfEdits(diagnostic), shown);
    action.edit = new vscode.WorkspaceEdit();
    action.edit.set(document.uri, edits);
    action.isPreferred = true;
    return action;
}

/** The install asks, as every install does. */
function installAction(shown: vscode.Diagnostic, packages: string[]): vscode.CodeAction {
    const title = `Install ${label(packages.join(", "), 80)}`;
    const action = quickFix(title, shown);
    action.command = { title, command: installCommand, arguments: [packages] };
    return action;
}

function wrappersAction(document: vscode.TextDocument, shown: vscode.Diagnostic): vscode.CodeAction {
    const title = "Generate Wrappers";
    const action = quickFix(title, shown);
    action.command = { title, command: wrappersCommand, arguments: [document, document.getText(shown.range)] };
    return action;
}
