// Completion and hover from the live kernel, beside those of the language's own extension.

import * as vscode from "vscode";
import type { Cellgate } from "../cellgate";
import { documentSelector, linesOf } from "../cells/document";
import { idleSession, unlessBusy } from "./live";
import { literalBlock, placeIn, positionOf, type Position } from "./place";

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
            const sessionId = idleSession(cellgate, document.uri.toString());
            const place = placeIn(linesOf(document), position);
            if (!sessionId || !place) return undefined;
            const { code, cursorPos } = place;
            const answer = await unlessBusy(cellgate.sidecar.request("kernel/complete", { sessionId, code, cursorPos }, token));
            if (!answer) return undefined;
            const { matches, types, cursorStart, cursorEnd } = answer;
            const range = new vscode.Range(inDocument(positionOf(place, cursorStart)), inDocument(positionOf(place, cursorEnd)));
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
            const sessionId = idleSession(cellgate, document.uri.toString());
            const word = document.getWordRangeAtPosition(position);
            const place = word && placeIn(linesOf(document), word.end);
            if (!sessionId || !place) return undefined;
            const { code, cursorPos } = place;
            const answer = await unlessBusy(cellgate.sidecar.request("kernel/inspect", { sessionId, code, cursorPos }, token));
            if (!answer?.found || !answer.text) return undefined;
            return new vscode.Hover(new vscode.MarkdownString(literalBlock(answer.text)), word);
        },
    };
    return vscode.Disposable.from(
        vscode.languages.registerCompletionItemProvider(documentSelector, completions, ".", "[", "'", '"'),
        vscode.languages.registerHoverProvider(documentSelector, hovers),
    );
}
