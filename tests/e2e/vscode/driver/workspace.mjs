// `TestWorkspace` is the fresh workspace, home and runtime directory of one scenario. The machine user's files and
// sidecars are not touched. At its end it stops everything that ran in it, and fails if a process keeps running.
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, readlink, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { until } from "./wait.mjs";

const run = promisify(execFile);
const SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

export class TestWorkspace {
    /** @param {Record<string, string>} files of the workspace, by relative path */
    static async make(files) {
        const workspace = new TestWorkspace(await mkdtemp(path.join(tmpdir(), "cge-")));
        for (const folder of [workspace.home, workspace.path, workspace.runtime]) {
            await mkdir(folder, { recursive: true, mode: 0o700 });
        }
        for (const [name, text] of Object.entries(files)) {
            await workspace.write(name, text);
        }
        return workspace;
    }

    /** @param {string} root */
    constructor(root) {
        this.base = root;
        this.home = path.join(root, "home");
        this.path = path.join(root, "work");
        /** The folder whose sidecar it is. */
        this.served = this.path;
        this.runtime = path.join(root, "run");
        this.environment = {
            HOME: this.home,
            XDG_RUNTIME_DIR: this.runtime,
            PATH: SYSTEM_PATH,
            LANG: "C.UTF-8",
            TZ: "UTC",
        };
    }

    /** @param {string} name */
    file(name) {
        return path.join(this.path, name);
    }

    /** @param {string} name @param {string} text */
    async write(name, text) {
        await mkdir(path.dirname(this.file(name)), { recursive: true });
        await writeFile(this.file(name), text);
    }

    /** @param {string} name */
    async read(name) {
        return readFile(this.file(name), "utf8");
    }

    /** @param {string} name */
    has(name) {
        return existsSync(this.file(name));
    }

    /** Runs cellgate here, as its user would in a terminal. @param {string} subcommand @param {string[]} parameters */
    async cellgate(subcommand, ...parameters) {
        return run(cellgateProgram(), [subcommand, "--root", this.served, ...parameters], { env: this.environment });
    }

    /** Processes that have this workspace's home, which all that is started here inherits. */
    async processes() {
        const mark = `HOME=${this.home}\0`;
        const found = [];
        for (const pid of (await readdir("/proc")).filter((name) => /^\d+$/.test(name))) {
            const environment = await readFile(`/proc/${pid}/environ`, "latin1").catch(() => "");
            if (environment.includes(mark)) {
                const command = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
                const program = await readlink(`/proc/${pid}/exe`).catch(() => "");
                found.push({ pid: Number(pid), program, command: command.replaceAll("\0", " ").trim() });
            }
        }
        return found;
    }

    /** The end of each log that the sidecars of this workspace wrote. */
    async sidecarLogs() {
        const folder = path.join(this.home, ".local", "state", "cellgate");
        const names = await readdir(folder, { recursive: true }).catch(() => []);
        const logs = names.filter((name) => /\.log(\.\d+)?$/.test(name));
        return Promise.all(logs.map(async (name) => ({ name, text: await readFile(path.join(folder, name), "utf8") })));
    }

    async remove() {
        await this.cellgate("stop").catch((error) => {
            throw new Error(`cellgate stop failed: ${error.stderr ?? error.message}`);
        });
        let left = await this.processes();
        try {
            await until(async () => (left = await this.processes()).length === 0, () =>
                `the end of ${left.map(({ pid, command }) => `${pid} (${command})`).join("; ")}`, 30_000);
        } finally {
            for (const { pid } of left) {
                process.kill(pid, "SIGKILL");
            }
            await rm(this.base, { recursive: true, force: true });
        }
    }
}

/** The sidecar's program, for what a test does beside the editor. */
export function cellgateProgram() {
    return process.env.CELLGATE ?? path.resolve(import.meta.dirname, "../../../../build/cellgate");
}
