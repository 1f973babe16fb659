import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import type { Rule, SecretInfo, ToolServerInfo } from "../src/protocol/messages";
import { permissionGroups, type Facts } from "../src/sessionViews/permissionGroups";

const session: Facts["session"] = {
    sessionId: "s",
    kernel: { name: "python3", language: "python" },
    sandbox: "bwrap",
    layers: ["bwrap", "seccomp"],
    cwd: "/w",
    limits: { memoryBytes: 2 ** 30 },
};
const rule = (more: Partial<Rule>): Rule => ({ id: "r", effect: "allow", source: "workspaceStore", ...more });
const secret = (more: Partial<SecretInfo>): SecretInfo => ({ name: "TOKEN", scope: "workspace", source: "stored", usedBy: [], ...more });
const server: ToolServerInfo = { name: "notes", source: "user", identity: "0", state: "stopped", sandbox: "none" };

function rowsOf(title: string, more: Partial<Facts>): string[] {
    const groups = permissionGroups({ session, workspace: "/w", rules: [], servers: [], secrets: [], profiles: [], ...more });
    return (groups.find((group) => group.title === title)?.rows ?? []).map(({ text, detail }) => `${text}: ${detail}`);
}

test("what no rule decides is asked about", () => {
    assert.deepEqual(rowsOf("Network", {}), ["Network: any host: you are asked"]);
    assert.deepEqual(rowsOf("Tools", { servers: [server] }), ["Tools: notes: starts when it is needed, outside the sandbox", "Tools: any call: you are asked"]);
});

test("rules are where they decide, and those of other sessions and of tool servers' connections nowhere", () => {
    const rules = [
        rule({ kind: "network", host: "example.org" }),
        rule({ kind: "network", host: "other.org", source: "session", sessionId: "t" }),
        rule({ kind: "network", host: "of-a-server.org", server: "notes" }),
        rule({ kind: "tool", server: "notes", effect: "deny", uses: 2, source: "session", sessionId: "s" }),
    ];
    assert.deepEqual(rowsOf("Network", { rules }), ["Network: connect to example.org: allow, kept for this workspace", "Network: any other host: you are asked"]);
    assert.deepEqual(rowsOf("Tools", { rules }), ["Tools: any tool of notes: deny, until that session ends, for 2 more", "Tools: any other call: you are asked"]);
});

test("without a sandbox, files and hosts are reached unasked, and this is said", () => {
    const free: Partial<Facts> = { session: { ...session, sandbox: "none", layers: [] } };
    assert.match(rowsOf("Sandbox", free)[0] ?? "", /can do all that you can/);
    assert.deepEqual(rowsOf("Network", free), ["Network: any host: without asking you: there is no sandbox"]);
    assert.deepEqual(rowsOf("Files", free), ["Files: all that you can reach: without asking you: there is no sandbox"]);
});

test("the name of a group finds its rows", () => {
    const groups = permissionGroups({ session, workspace: "/w", rules: [rule({ kind: "network", host: "example.org" })], servers: [server], secrets: [], profiles: [] });
    for (const [title, word] of [["Sandbox", "sandbox"], ["Profile", "profile"], ["Files", "file"], ["Network", "network"], ["Tools", "tool"], ["Secrets", "secret"], ["Limits", "limit"]]) {
        const rows = groups.find((group) => group.title === title)?.rows ?? [];
        assert.ok(rows.length > 0 && rows.every(({ text }) => text.toLowerCase().includes(word ?? "")), title);
    }
});

test("layers and default limits are said in words", () => {
    const layers = ["bwrap", "user-namespace", "mount-namespace", "network-namespace", "seccomp", "memory-limit", "process-limit", "new-one"];
    assert.deepEqual(rowsOf("Sandbox", { session: { ...session, layers } }), [
        "Sandbox: held by bwrap: files and processes of its own, no network but through the gate, fewer rights, limits, new-one",
    ]);
    assert.equal(rowsOf("Limits", {})[1], "Limit: processes and threads: default: 4096");
    assert.equal(rowsOf("Limits", { session: { ...session, agent: "a" } })[1], "Limit: processes and threads: default");
});

test("the weaker sandbox reaches no host", () => {
    assert.deepEqual(rowsOf("Network", { session: { ...session, sandbox: "landlock" } }), ["Network: any host: not reached: this sandbox has no network"]);
});

test("what the user added to the sandbox is named", () => {
    const rows = rowsOf("Files", { session: { ...session, sandboxAdditions: { allowRead: ["/data"], allowWrite: ["/out"], gpu: true }, sandboxConfig: "/s.json" } });
    assert.deepEqual(rows.slice(3), ["Files: /data: read", "Files: /out: read and written", "Files: the graphics cards: used", "Files: /s.json: shows more, or hides"]);
});

test("the profile says what it gives, or that there is none of the name any more", () => {
    const profiles: Facts["profiles"] = [{
        name: "lab", description: "ours", modules: ["astropy", "json"], notInstalled: ["astropy"], domains: ["archive.example.org"],
        limits: { memoryBytes: 2 ** 33, wallSeconds: 600 }, askBeforePrograms: true, validation: "strict",
    }];
    assert.deepEqual(rowsOf("Profile", { profiles }), ["Profile: none: any module may be imported, code is not checked"]);
    const gone = { session: { ...session, profile: "lab" } };
    assert.deepEqual(rowsOf("Profile", gone), ["Profile: lab: which is not there any more"]);
    assert.deepEqual(rowsOf("Profile", { ...gone, profiles }), [
        "Profile: lab: imports 2 modules, 1 of them not installed; connects unasked to archive.example.org; "
        + "memory of each process, and of all together: 8 GiB; time of each execution: 600 s; asks before code starts a program; code with an error is refused",
    ]);
});

test("secrets are this session's and wider ones, limits all", () => {
    const secrets = [secret({}), secret({ name: "MINE", scope: "session", sessionId: "s" }), secret({ name: "THEIRS", scope: "session", sessionId: "t" })];
    assert.deepEqual(rowsOf("Secrets", { secrets }).map((row) => row.split(":")[1]), [" TOKEN", " MINE"]);
    assert.equal(rowsOf("Limits", {})[0], "Limit: memory of each process, and of all together: 1 GiB");
    assert.equal(rowsOf("Limits", {}).length, 8);
});

test("each line but a default rule names what changes it, and the settings are there", () => {
    const manifest = JSON.parse(readFileSync("package.json", "utf8")) as { contributes: { configuration: { properties: object } | { properties: object }[] } };
    const settings = [manifest.contributes.configuration].flat().flatMap(({ properties }) => Object.keys(properties));
    const rules = [rule({ kind: "network", host: "example.org" }), rule({ kind: "tool", source: "default" })];
    const full = { ...session, image: { name: "work", id: "1" }, sandboxConfig: "/s.json", sandboxNotices: ["a notice"], sandboxAdditions: { allowRead: ["/data"] } };
    const groups = permissionGroups({ session: full, workspace: "/w", rules, servers: [server], secrets: [secret({})], profiles: [] });
    const rows = groups.flatMap((group) => group.rows);
    assert.deepEqual(rows.filter(({ change }) => change === undefined).map(({ text }) => text), ["Tools: any tool"]);
    for (const { text, change } of rows) {
        if (typeof change === "object" && "setting" in change) assert.ok(settings.includes(change.setting), `${text}: ${change.setting}`);
    }
});
