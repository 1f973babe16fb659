// These functions prepare the extensions of an editor: its own relevant ones, the package, and small ones that play a
// part. Each set is installed once per process by the editor's installer; a scenario gets a copy.
import { execFile } from "node:child_process";
import { copyFile, cp, mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { atEnd } from "./end.mjs";
import { EDITOR, editor, REPOSITORY } from "./installation.mjs";

const run = promisify(execFile);
export const PACKAGE = process.env.CELLGATE_VSIX ?? path.join(REPOSITORY, "build", "cellgate-linux-x64.vsix");
const PARTS = path.join(REPOSITORY, "tests", "e2e", "vscode", "extensions");
const VSCE = path.join(REPOSITORY, "editors", "vscode", "node_modules", ".bin", "vsce");

const OWN = path.join(EDITOR, "code-server", "lib", "vscode", "extensions");
// An editor that starts half as many extensions is there sooner. Those are not in the way of anything here, and most
// scenarios do without them: version control, other languages, debuggers, chat.
const USED_BUILTINS = ["configuration-editing", "ipynb", "json", "markdown-basics", "notebook-renderers", "python", "theme-defaults", "theme-seti"];

const sets = new Map();
const root = mkdtemp(path.join(tmpdir(), "cge-extensions-"));
atEnd(async () => rm(await root, { recursive: true, force: true }));

/** Options for a scenario in which this extension of tests/e2e/vscode/extensions is there, too. @param {string} name */
export function withExtension(name) {
    return { extensions: [name] };
}

/** A copy of the package, and of extensions beside it, as installed. @param {string[]} names @param {string} folder */
export async function installInto(folder, names) {
    await cp(await once(`installed ${names}`, () => install(names)), folder, { recursive: true });
}

/** The folder of the editor's own extensions that are in use here. */
export async function usedBuiltins() {
    return once("own", async () => {
        const folder = path.join(await root, "own");
        await mkdir(folder);
        for (const name of USED_BUILTINS) {
            await symlink(path.join(OWN, name), path.join(folder, name));
        }
        return folder;
    });
}

async function install(names) {
    const base = path.join(await root, ["package", ...names].join("-"));
    await mkdir(base);
    const environment = { HOME: base, PATH: process.env.PATH, LANG: "C.UTF-8" };
    const folder = path.join(base, "extensions");
    const config = path.join(base, "config.yaml");
    const directories = ["--config", config, "--user-data-dir", path.join(base, "user-data"), "--extensions-dir", folder];
    // Where the editor runs in another root it does not see the repository.
    const ours = path.join(base, "cellgate.vsix");
    await copyFile(PACKAGE, ours);
    for (const file of [ours, ...(await Promise.all(names.map((name) => packaged(name, base))))]) {
        const { program, parameters } = editor(...directories, "--install-extension", file);
        await run(program, parameters, { env: environment });
    }
    return folder;
}

async function packaged(name, base) {
    const file = path.join(base, `${name}.vsix`);
    const parameters = ["package", "--no-dependencies", "--skip-license", "--allow-missing-repository", "--out", file];
    await run(VSCE, parameters, { cwd: path.join(PARTS, name) });
    return file;
}

function once(key, make) {
    if (!sets.has(key)) {
        sets.set(key, make());
    }
    return sets.get(key);
}
