// An agent beside the editor: a client of `cellgate mcp`, as programs start it.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { cellgateProgram } from "./place.mjs";

export class Agent {
    #answers = new Map();
    #count = 0;

    /** @param {import("./place.mjs").Place} place @param {string} name as it introduces itself */
    static async start(place, name) {
        const agent = new Agent(place);
        await agent.#request("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name, version: "1" } });
        agent.#send({ method: "notifications/initialized" });
        return agent;
    }

    /** @param {import("./place.mjs").Place} place */
    constructor(place) {
        const parameters = ["mcp", "--root", place.workspace];
        this.process = spawn(cellgateProgram(), parameters, { env: place.environment, cwd: place.workspace, stdio: ["pipe", "pipe", "inherit"] });
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
