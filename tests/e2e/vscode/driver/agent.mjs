// `Agent` is a client of `cellgate mcp`, started as agent programs start it.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { cellgateProgram } from "./workspace.mjs";

export class Agent {
    #answers = new Map();
    #count = 0;

    /** @param {import("./workspace.mjs").TestWorkspace} workspace @param {string} name as it introduces itself */
    static async start(workspace, name) {
        const agent = new Agent(workspace);
        await agent.#request("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name, version: "1" } });
        agent.#send({ method: "notifications/initialized" });
        return agent;
    }

    /** @param {import("./workspace.mjs").TestWorkspace} workspace */
    constructor(workspace) {
        const parameters = ["mcp", "--root", workspace.path];
        this.process = spawn(cellgateProgram(), parameters, { env: workspace.environment, cwd: workspace.path, stdio: ["pipe", "pipe", "inherit"] });
        createInterface({ input: this.process.stdout }).on("line", (line) => {
            const { id, result, error } = JSON.parse(line);
            this.#answers.get(id)?.(error ?? result);
        });
    }

    /** Calls a tool of cellgate's, and gives its text. @param {string} name @param {object} parameters */
    async call(name, parameters) {
        const result = await this.#request("tools/call", { name, arguments: parameters });
        return (result.content ?? []).map(({ text }) => text).join("\n") || JSON.stringify(result);
    }

    async end() {
        this.process.stdin.end();
        await new Promise((resolve) => this.process.once("close", resolve));
    }

    #request(method, params) {
        const id = ++this.#count;
        this.#send({ id, method, params });
        return new Promise((resolve) => this.#answers.set(id, resolve));
    }

    #send(message) {
        this.process.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
    }
}
