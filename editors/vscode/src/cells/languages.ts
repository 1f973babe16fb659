// These functions name languages as kernelspecs do: of a document, by the editor's name for it, and of a cell, by what
// the line that begins it says in brackets.

/** The editor's names of languages whose files can have cells. */
const ofEditor: Record<string, string> = {
    python: "python",
    typescript: "typescript",
    javascript: "javascript",
    shellscript: "bash",
    r: "R",
};

const ofCell: Record<string, string> = {
    py: "python",
    python: "python",
    ts: "typescript",
    typescript: "typescript",
    js: "javascript",
    javascript: "javascript",
    sh: "bash",
    shell: "bash",
    bash: "bash",
    r: "R",
    julia: "julia",
};

export const editorLanguages: readonly string[] = Object.keys(ofEditor);

export function languageOfDocument(languageId: string): string {
    return ofEditor[languageId] ?? "python";
}

/** The kernel's name for an editor's language, also of one whose files have no cells, as a notebook's can be. */
export function kernelLanguageOf(languageId: string): string {
    return ofEditor[languageId] ?? languageId;
}

/** The editor's name for a kernel's language. */
export function editorLanguageOf(language: string): string {
    return Object.entries(ofEditor).find(([, name]) => name === language)?.[0] ?? language;
}

/** `# %% [bash]`: other words in brackets are a part of the title. */
export function languageOfMarker(line: string): string | undefined {
    const names = Array.from(line.matchAll(/\[([\w+]+)\]/g), ([, name]) => ofCell[(name ?? "").toLowerCase()]);
    return names.find((name) => name !== undefined);
}
