// These are the languages that the scenarios of languages.test.mjs try, each with what is typed in it.
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { REPOSITORY } from "./installation.mjs";

const DENO = path.join(REPOSITORY, "tests", "node_modules", "deno", "deno");

/**
 * `loops` writes the file `begun`, and ends only when it is interrupted. `asks` writes what was kept, or "gone", into
 * the file `asked`. `typed` is what the kernel completes to `completed`. `calls` calls read_file of host in its second line.
 */
export const languages = [
    {
        name: "python",
        file: "live.py",
        marker: "# %%",
        kernel: /Python.* in cellgate$/,
        prints: "print('said', 6 * 7)",
        raises: "x = 1\nraise ValueError('wrong')",
        error: "ValueError",
        loops: "open('begun', 'w').close()\nwhile True: pass",
        keeps: "kept_here = 'kept'",
        asks: "open('asked', 'w').write(globals().get('kept_here', 'gone'))",
        typed: "kept_h",
        completed: "kept_here",
        calls: "from mcptools.host import read_file\nprint(read_file.run(path='notes.txt').content)",
    },
    {
        name: "typescript",
        file: "live.ts",
        marker: "// %%",
        kernel: /Deno.* in cellgate$/,
        prints: "console.log('said', 6 * 7)",
        raises: "const x: number = 1\nthrow new TypeError('wrong')",
        error: "TypeError",
        loops: "Deno.writeTextFileSync('begun', '')\nwhile (true) {}",
        keeps: "var kept_here = 'kept'",
        asks: "Deno.writeTextFileSync('asked', typeof kept_here === 'undefined' ? 'gone' : kept_here)",
        typed: "kept_h",
        completed: "kept_here",
        calls: "import { readFile } from './mcptools/host/index.ts'\nconsole.log((await readFile({ path: 'notes.txt' })).content)",
    },
];

/** The file of each language, with these cells. @param {string[]} cells names of the table */
export function filesWith(...cells) {
    return Object.fromEntries(languages.map((language) => [language.file, textOf(language, cells)]));
}

function textOf(language, cells) {
    return cells.map((cell) => `${language.marker}\n${language[cell]}\n`).join("\n");
}

/** Installs Deno's kernel for the user: what the editor has of PATH comes from the login shell. @param {import("./workspace.mjs").TestWorkspace} workspace */
export async function withDeno(workspace) {
    if (!existsSync(DENO)) throw new Error("there is no Deno: ./dev test installs it with the other npm packages of the tests");
    const folder = path.join(workspace.home, ".local", "share", "jupyter", "kernels", "deno");
    await mkdir(folder, { recursive: true });
    const kernel = {
        argv: [DENO, "jupyter", "--kernel", "--conn", "{connection_file}"],
        display_name: "Deno",
        language: "typescript",
        metadata: { cellgate: { transport: "tcp" } },
    };
    await writeFile(path.join(folder, "kernel.json"), JSON.stringify(kernel));
}
