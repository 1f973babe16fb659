// `completion` registers completion and hover from the running kernel, in addition to those of the language's
// extension.

import * as vscode from "vscode";
import type { Cellgate } from "../cellgate";
import { linesOf } from "../cells/document";
import { codeSelector } from "../notebooks/cellDocuments";
import { idleSession, undefinedIfBusy } from "./idleKernel";
import { literalBlock, codePositionAt, documentPosition, type Position } from "./codePosition";

const kinds: Partial<Record<string, vscode.CompletionItemKind>> = {
    function: vscode.CompletionItemKind.Function,
    class: vscode.CompletionItemKind.Class,
    module: vscode.CompletionItemKind.Module,
    keyword: vscode.CompletionItemKind.Keyword,
    property: vscode.CompletionItemKind.Property,
    path: vscode.CompletionItemKind.File,
    magic: vscode.CompletionItemKind.Event,
    "dict key": vscode.CompletionItemKind.Value,
};

const inDocument = ({ line, character }: Position) => new vscode.Position(line, character);

export function completion(cellgate: Cellgate): vscode.Disposable {
    const completions: vscode.CompletionItemProvider = {
        async provideCompletionItems(document, position, token) {
            const place = codePositionAt(linesOf(document), position);
            const sessionId = place && idleSession(cellgate, document, place.language);
            if (!sessionId) return undefined;
            const { code, cursorPos } = place;
            const answer = await undefinedIfBusy(cellgate.sidecar.request("kernel/complete", { sessionId, code, cursorPos }, token));
            if (!answer) return undefined;
            const { matches, types, cursorStart, cursorEnd } = answer;
            const range = new vscode.Range(inDocument(documentPosition(place, cursorStart)), inDocument(documentPosition(place, cursorEnd)));
            return matches.map((match, index) => {
                const kind = kinds[types?.[index] ?? ""] ?? vscode.CompletionItemKind.Variable;
                const item = new vscode.CompletionItem({ label: match, description: "kernel" }, kind);
                item.range = range;
                // What is to be replaced may begin before the word, as in `table.col`.
                item.filterText = match;
                return item;
            });
        },
    };
    const hovers: vscode.HoverProvider = {
        async provideHover(document, position, token) {
            const word = document.getWordRangeAtPosition(position);
            const place = word && codePositionAt(linesOf(document), word.end);
            const sessionId = place && idleSession(cellgate, document, place.language);
            if (!sessionId) return undefined;
            const { code, cursorPos } = place;
            const answer = await undefinedIfBusy(cellgate.sidecar.request("kernel/inspect", { sessionId, code, cursorPos }, token));
            if (!answer?.found || !answer.text) return undefined;
            return new vscode.Hover(new vscode.MarkdownString(literalBlock(answer.text)), word);
        },
    };
    return vscode.Disposable.from(
        vscode.languages.registerCompletionItemProvider(codeSelector, completions, ".", "[", "'", '"'),
        vscode.languages.registerHoverProvider(codeSelector, hovers),
    );
}
