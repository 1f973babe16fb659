// `JupyterServer` is a real Jupyter server in a network of its own, as on another machine. A scenario can cut its
// connections.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { atEnd } from "./end.mjs";

const PROGRAM = path.resolve(import.meta.dirname, "../../../integration/remote_testing.py");

let shared;
atEnd(async () => (await shared)?.end());

/** The one of this process's tests; each has kernels of its own there. */
export function sharedJupyterServer() {
    shared ??= JupyterServer.start();
    return shared;
}

class JupyterServer {
    static async start() {
        const server = new JupyterServer(await mkdtemp(path.join(tmpdir(), "cge-far-")));
        const { url, token } = JSON.parse(await server.#line());
        Object.assign(server, { url, token });
        return server;
    }

    /** @param {string} home */
    constructor(home) {
        this.home = home;
        this.process = spawn("/usr/bin/python3", ["-B", PROGRAM, home], { stdio: ["pipe", "pipe", "inherit"] });
        this.lines = createInterface({ input: this.process.stdout })[Symbol.asyncIterator]();
    }

    async #line() {
        const { value, done } = await this.lines.next();
        if (done) throw new Error("the Jupyter server ended");
        return value;
    }

    /** Cuts all connections to it, once. */
    async cut() {
        this.process.stdin.write("\n");
        await this.#line();
    }

    async end() {
        const exited = once(this.process, "exit");
        this.process.stdin.end();
        await exited;
        await rm(this.home, { recursive: true, force: true });
    }
}
