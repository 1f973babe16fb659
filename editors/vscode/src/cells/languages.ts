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

/** The editor's names where they are not the kernel's own in small letters. */
const ofKernel: Record<string, string> = { bash: "shellscript", "c++": "cpp", "c#": "csharp", "f#": "fsharp", "wolfram language": "wolfram" };

/** The editor's name for a kernel's language. */
export function editorLanguageOf(language: string): string {
    const name = language.toLowerCase();
    return ofKernel[name] ?? name;
}

/** The editor's names for what a kernel of the language runs, its own first: JavaScript is TypeScript, too. */
export function editorLanguagesOf(language: string): string[] {
    const own = editorLanguageOf(language);
    return own === "typescript" ? [own, "javascript"] : [own];
}

/** Whether a kernel of the language `spoken` runs code in `wanted`. */
export function runsLanguage(spoken: string, wanted: string): boolean {
    return editorLanguagesOf(spoken).includes(editorLanguageOf(wanted));
}

/** `# %% [bash]`: other words in brackets are a part of the title. */
export function languageOfMarker(line: string): string | undefined {
    const names = Array.from(line.matchAll(/\[([\w+]+)\]/g), ([, name]) => ofCell[(name ?? "").toLowerCase()]);
    return names.find((name) => name !== undefined);
}
