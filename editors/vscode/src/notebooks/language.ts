// `languageOfNotebook` is the language whose kernels fit a notebook.

import { kernelLanguageOf } from "../cells/languages";

interface NotebookMetadata {
    readonly language_info?: { readonly name?: unknown };
    readonly kernelspec?: { readonly language?: unknown };
}

/**
 * As kernelspecs spell it: what the notebook's file says, else the language of its first code cell, else Python.
 * `metadata`: as the editor has it, which is as the file says. `cells`: the editor's names for the languages of its code cells.
 */
export function languageOfNotebook(metadata: { readonly metadata?: unknown }, cells: readonly string[]): string {
    const { language_info, kernelspec } = (metadata.metadata ?? {}) as NotebookMetadata;
    const named = [language_info?.name, kernelspec?.language].find((name) => typeof name === "string" && name !== "");
    return kernelLanguageOf(typeof named === "string" ? named.toLowerCase() : (cells[0] ?? "python"));
}
