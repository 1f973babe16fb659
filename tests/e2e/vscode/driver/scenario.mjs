// `scenario` is a test with an editor in a fresh workspace. When it fails, a screenshot and the logs of both sides are
// kept in build/e2e/vscode/artefacts/VERSION/<scenario>, and the ends of the logs are in the report.
import assert from "node:assert/strict";
import { mkdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { after, test } from "node:test";
import { Editor } from "./editor.mjs";
import { end } from "./end.mjs";
import { VERSION } from "./installation.mjs";
import { TestWorkspace } from "./workspace.mjs";
import { Server } from "./server.mjs";

const ARTEFACTS = path.resolve(import.meta.dirname, "../../../../build/e2e/vscode/artefacts", VERSION);
const REPORTED_LINES = 40;

after(end);

/**
 * @param {string} name what a user sees, or the hazard
 * @param {{files?: Record<string, string>, settings?: object, trusted?: boolean, environment?: Record<string, string>,
 *          extensions?: string[], whole?: boolean, workspaceFile?: string | null, prepare?: (workspace: TestWorkspace) => Promise<void>}} options
 * @param {(scene: {workspace: TestWorkspace, server: Server, editor: Editor, artefacts: string}) => Promise<void>} body
 */
export function scenario(name, { files = {}, prepare = async () => {}, workspaceFile, ...options }, body) {
    test(name, async (t) => {
        const artefacts = path.join(ARTEFACTS, name.replaceAll(/[^\w.-]+/g, "-"));
        await rm(artefacts, { recursive: true, force: true });
        const workspace = await TestWorkspace.make(files);
        let server, editor;
        try {
            await prepare(workspace);
            server = await Server.start(workspace, resolveOptions(options, workspace));
            editor = await Editor.open(server, artefacts, workspaceFile);
            await body({ workspace, server, editor, artefacts });
            // What the editor says where two things open in one workspace: nothing that a user did wrong.
            assert.equal(await editor.notification("Editor creation failure").count(), 0);
        } catch (error) {
            await keep(t, artefacts, { workspace, server, editor });
            throw error;
        } finally {
            await editor?.close();
            await server?.stop();
            await workspace.remove();
        }
    });
}

/** Options may follow from the workspace: `settings: (workspace) => ({…})`. */
function resolveOptions(options, workspace) {
    const entries = Object.entries(options).map(([key, value]) => [key, typeof value === "function" ? value(workspace) : value]);
    return Object.fromEntries(entries);
}

async function keep(t, artefacts, { workspace, server, editor }) {
    await mkdir(artefacts, { recursive: true });
    await editor?.screenshot("failure").catch(() => {});
    await writeFile(path.join(artefacts, "browser.log"), editor?.console ?? "");
    const logs = await workspace.sidecarLogs();
    if (server) {
        await writeFile(path.join(artefacts, "server.log"), server.log);
        logs.push(...(await server.logs((name) => /(cellgate|remoteexthost)[^/]*\.log$/i.test(name))));
    }
    for (const { name, text } of logs) {
        await writeFile(path.join(artefacts, name.replaceAll("/", "-")), text);
        t.diagnostic(`the end of ${name}:\n${text.trimEnd().split("\n").slice(-REPORTED_LINES).join("\n")}`);
    }
    t.diagnostic(`a screenshot and whole logs are in ${artefacts}`);
}
