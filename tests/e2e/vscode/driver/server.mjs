// `Server` is VS Code as a server for browsers, started in a workspace with its own directories, at a socket there.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream, existsSync } from "node:fs";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { installInto, usedBuiltins } from "./extensions.mjs";
import { editor } from "./installation.mjs";
import { until } from "./wait.mjs";

// Nothing that moves, asks, or looks something up on the network.
const SETTINGS = {
    "workbench.startupEditor": "none",
    "workbench.secondarySideBar.defaultVisibility": "hidden",
    "workbench.reduceMotion": "on",
    "workbench.tips.enabled": false,
    "editor.cursorBlinking": "solid",
    "chat.disableAIFeatures": true,
    "telemetry.telemetryLevel": "off",
    "extensions.autoUpdate": false,
    "extensions.autoCheckUpdates": false,
    "extensions.ignoreRecommendations": true,
    "git.enabled": false,
    "security.workspace.trust.startupPrompt": "never",
    "security.workspace.trust.banner": "never",
};

export class Server {
    /**
     * @param {import("./workspace.mjs").TestWorkspace} workspace
     * @param {{settings?: object, trusted?: boolean, environment?: Record<string, string>, extensions?: string[],
     *          whole?: boolean}} options `whole`: with all the extensions that are the editor's own
     */
    static async start(workspace, { settings = {}, trusted = true, environment = {}, extensions = [], whole = false } = {}) {
        const server = new Server(workspace, { ...workspace.environment, ...environment });
        await server.#addSettings("User", { ...SETTINGS, ...settings });
        // What only a machine may decide counts here, where the editor is not on the user's own.
        await server.#addSettings("Machine", settings);
        await writeFile(path.join(workspace.base, "config.yaml"), "");
        await installInto(server.extensions, extensions);
        await server.#listen(trusted, whole ? [] : ["--builtin-extensions-dir", await usedBuiltins()]);
        return server;
    }

    /** Beside those that a scenario has prepared. @param {"User" | "Machine"} of @param {object} settings */
    async #addSettings(of, settings) {
        const file = path.join(this.userData, of, "settings.json");
        const prepared = existsSync(file) ? JSON.parse(await readFile(file, "utf8")) : {};
        await mkdir(path.dirname(file), { recursive: true });
        await writeFile(file, JSON.stringify({ ...settings, ...prepared }, null, 4));
    }

    /** @param {import("./workspace.mjs").TestWorkspace} workspace @param {Record<string, string>} environment */
    constructor(workspace, environment) {
        this.workspace = workspace;
        this.environment = environment;
        this.userData = path.join(workspace.base, "user-data");
        this.extensions = path.join(workspace.base, "extensions");
        this.socket = path.join(workspace.base, "editor");
        this.log = "";
    }

    /** @param {boolean} trusted @param {string[]} further */
    async #listen(trusted, further) {
        const { program, parameters } = editor(
            "--config", path.join(this.workspace.base, "config.yaml"),
            "--user-data-dir", this.userData,
            "--extensions-dir", this.extensions,
            "--auth", "none",
            "--socket", this.socket,
            "--disable-telemetry",
            "--disable-update-check",
            "--disable-getting-started-override",
            ...further,
            ...(trusted ? ["--disable-workspace-trust"] : []),
        );
        // A process group of its own, so that all of it can be ended.
        this.process = spawn(program, parameters, { env: this.environment, detached: true, stdio: ["ignore", "pipe", "pipe"] });
        const file = createWriteStream(path.join(this.workspace.base, "server.log"));
        for (const stream of [this.process.stdout, this.process.stderr]) {
            stream.on("data", (data) => {
                this.log += data;
                file.write(data);
            });
        }
        const listens = () => this.log.includes(`server listening on ${this.socket}`);
        const ended = () => this.process.exitCode !== null || this.process.signalCode !== null;
        await until(() => listens() || ended(), () => `the editor to listen; its output is: ${this.log}`);
        if (!listens()) {
            throw new Error(`the editor ended at once: ${this.log}`);
        }
    }

    /** All that the hosts of extensions have logged: what they loaded, and why. */
    async extensionHostLog() {
        return (await this.logs((name) => path.basename(name) === "remoteexthost.log")).map(({ text }) => text).join("");
    }

    /** The logs of the editor's own server whose names, in its folder of logs, are wanted. */
    async logs(wanted) {
        const folder = path.join(this.userData, "logs");
        const names = (await readdir(folder, { recursive: true }).catch(() => [])).filter(wanted).sort();
        return Promise.all(names.map(async (name) => ({ name, text: await readFile(path.join(folder, name), "utf8") })));
    }

    /** It is not asked to end: what it would wait for then is of no use to anybody. */
    async stop() {
        if (this.process.exitCode === null && this.process.signalCode === null) {
            process.kill(-this.process.pid, "SIGKILL");
            await once(this.process, "exit");
        }
    }
}
