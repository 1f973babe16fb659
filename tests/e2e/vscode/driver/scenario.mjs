// One scenario: a test with an editor in a place of its own. When it fails, a screenshot and the logs of both sides are
// kept in build/e2e/vscode/VERSION/<scenario>, and their ends are in the report.
import assert from "node:assert/strict";
import { mkdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { after, test } from "node:test";
import { Editor } from "./editor.mjs";
import { end } from "./end.mjs";
import { VERSION } from "./installation.mjs";
import { Place } from "./place.mjs";
import { Server } from "./server.mjs";

const ARTEFACTS = path.resolve(import.meta.dirname, "../../../../build/e2e/vscode/artefacts", VERSION);
const REPORTED_LINES = 40;

after(end);

/**
 * @param {string} name what a person sees, or the hazard
 * @param {{files?: Record<string, string>, settings?: object, trusted?: boolean, environment?: Record<string, string>,
 *          extensions?: string[], whole?: boolean, workspace?: string | null, prepare?: (place: Place) => Promise<void>}} options
 * @param {(scene: {place: Place, server: Server, editor: Editor, artefacts: string}) => Promise<void>} body
 */
export function scenario(name, { files = {}, prepare = async () => {}, workspace, ...options }, body) {
    test(name, async (t) => {
        const artefacts = path.join(ARTEFACTS, name.replaceAll(/[^\w.-]+/g, "-"));
        await rm(artefacts, { recursive: true, force: true });
        const place = await Place.make(files);
        let server, editor;
        try {
            await prepare(place);
            server = await Server.start(place, inPlace(options, place));
            editor = await Editor.open(server, artefacts, workspace);
            await body({ place, server, editor, artefacts });
            // What the editor says where two things open in one place: nothing that a person did wrong.
            assert.equal(await editor.notification("Editor creation failure").count(), 0);
        } catch (error) {
            await keep(t, artefacts, { place, server, editor });
            throw error;
        } finally {
            await editor?.close();
            await server?.stop();
            await place.remove();
        }
    });
}

/** Options may follow from the place: `settings: (place) => ({…})`. */
function inPlace(options, place) {
    const entries = Object.entries(options).map(([key, value]) => [key, typeof value === "function" ? value(place) : value]);
    return Object.fromEntries(entries);
}

async function keep(t, artefacts, { place, server, editor }) {
    await mkdir(artefacts, { recursive: true });
    await editor?.screenshot("failure").catch(() => {});
    await writeFile(path.join(artefacts, "browser.log"), editor?.console ?? "");
    const logs = await place.sidecarLogs();
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
