// The real filesystem server, which offers the workspace, with its wrappers written.
import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import { cellgateProgram } from "./place.mjs";

const run = promisify(execFile);
const PROGRAM = path.resolve(import.meta.dirname, "../../../node_modules/.bin/mcp-server-filesystem");

/** As a person's settings name it: it starts without being asked about. */
export const filesystemSettings = { "cellgate.mcpServers": { filesystem: { command: PROGRAM, args: ["."] } } };

/** As a file of the workspace names it. */
export const filesystemFile = JSON.stringify({ mcpServers: { filesystem: { command: PROGRAM, args: ["."] } } });

/** @param {import("./place.mjs").Place} place */
export async function writeWrappers(place) {
    const parameters = ["generate", "filesystem", "--root", place.workspace, "--", PROGRAM, "."];
    await run(cellgateProgram(), parameters, { env: place.environment, cwd: place.workspace });
}
