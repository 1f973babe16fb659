// This is the configuration of the real filesystem server, which offers the workspace, and the step that writes its
// wrappers.
import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import { cellgateProgram } from "./workspace.mjs";

const run = promisify(execFile);
const PROGRAM = path.resolve(import.meta.dirname, "../../../node_modules/.bin/mcp-server-filesystem");

/** As a user's settings name it: it starts without being asked about. */
export const filesystemSettings = { "cellgate.mcpServers": { filesystem: { command: PROGRAM, args: ["."] } } };

/** As a file of the workspace names it. */
export const filesystemFile = JSON.stringify({ mcpServers: { filesystem: { command: PROGRAM, args: ["."] } } });

/** @param {import("./workspace.mjs").TestWorkspace} workspace */
export async function writeWrappers(workspace) {
    const parameters = ["generate", "filesystem", "--root", workspace.path, "--", PROGRAM, "."];
    await run(cellgateProgram(), parameters, { env: workspace.environment, cwd: workspace.path });
}
