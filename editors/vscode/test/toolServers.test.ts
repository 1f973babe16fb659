import assert from "node:assert/strict";
import { test } from "node:test";
import type { McpServerConfig, ToolServerInfo } from "../src/protocol/messages";
import { ToolServers } from "../src/toolServers/servers";
import { ConfiguredServers } from "../src/toolServers/settings";
import { commandLines, sandboxOf, sourceOf, stateOf } from "../src/toolServers/labels";

function fixture() {
    const asked: string[] = [];
    const told: string[] = [];
    let refused = "";
    let settings: Record<string, McpServerConfig> = {};
    const request = (method: string, { server }: { server: string }) => {
        asked.push(`${method} ${server}`);
        return server === refused ? Promise.reject(new Error("no such program")) : Promise.resolve({});
    };
    const configured = new ConfiguredServers(
        { request: request },
        () => settings,
        (name) => told.push(name),
    );
    return {
        configured,
        told,
        set: (value: Record<string, McpServerConfig>) => (settings = value),
        refuse: (name: string) => (refused = name),
        asked: () => asked.splice(0),
    };
}

test("servers of the settings are given, changed and taken back as the settings say", async () => {
    const { configured, set, asked } = fixture();
    set({ a: { command: "a" }, b: { command: "b" } });
    await configured.begin();
    assert.deepEqual(asked(), ["toolServers/add a", "toolServers/add b"]);
    set({ b: { command: "b", args: ["more"] }, c: { command: "c" } });
    await configured.apply();
    assert.deepEqual(asked(), ["toolServers/remove a", "toolServers/add b", "toolServers/add c"]);
    await configured.apply();
    assert.deepEqual(asked(), []);
    await configured.begin();
    assert.deepEqual(asked(), ["toolServers/add b", "toolServers/add c"], "another sidecar has none of them");
});

test("a server that cannot be used is reported, and the others are configured", async () => {
    const { configured, set, asked, refuse, told } = fixture();
    refuse("a");
    set({ a: { command: "a" }, b: { command: "b" } });
    await configured.begin();
    assert.deepEqual([asked().length, told], [2, ["a"]]);
});

test("a requested list is never older than the request", async () => {
    let lists = 0;
    const answers: (() => void)[] = [];
    const servers = new ToolServers({
        request: (() => {
            const name = `list ${++lists}`;
            return new Promise((resolve) => answers.push(() => resolve({ servers: [{ name }] })));
        }) as never,
    });
    const first = servers.refresh();
    const second = servers.refresh();
    const third = servers.refresh();
    answers.shift()?.();
    await new Promise(setImmediate);
    answers.shift()?.();
    await Promise.all([first, second, third]);
    assert.deepEqual([lists, servers.all()[0]?.name], [2, "list 2"]);
});

test("a server is described", () => {
    const server: ToolServerInfo = { name: "notes", state: "pending", source: "workspaceFile", identity: "", file: "/plan/.mcp.json" };
    assert.equal(stateOf(server), "waits for your agreement");
    assert.equal(sourceOf(server, () => ".mcp.json"), "from .mcp.json");
    assert.deepEqual(commandLines({ command: ["npx", "a b\u202e"] }), ['program: "npx"', 'argument: "a b\u202e"']);
    assert.deepEqual(commandLines({ url: "https://x" }), ["at https://x"]);
    assert.equal(sandboxOf({ sandbox: "none" }), "outside the sandbox, with all your rights");
    assert.equal(sandboxOf({ sandbox: "bwrap", layers: ["bwrap", "pid-namespace"] }), "in the sandbox: bwrap, pid-namespace");
    assert.equal(sandboxOf({}), undefined);
    const tools = [{ name: "t", inputSchema: {}, hints: {} }];
    assert.equal(stateOf({ state: "running", tools }), "running, 1 tool");
});
