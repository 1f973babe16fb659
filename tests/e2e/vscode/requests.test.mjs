// This scenario tries requests that are judged one by one, with a token that the code does not see.
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { promisify } from "node:util";
import { Approvals } from "./driver/approvals.mjs";
import { scenario } from "./driver/scenario.mjs";
import { cellgateProgram } from "./driver/workspace.mjs";

const run = promisify(execFile);
const token = "token-0123456789";

let api;
let host;
/** Starts an API over TLS, and adds the rules that a user has for it. @param {import("./driver/workspace.mjs").TestWorkspace} workspace */
async function prepare(workspace) {
    const program = path.resolve(import.meta.dirname, "../../integration/api_server.py");
    api = spawn("/usr/bin/python3", ["-B", program, workspace.base], { stdio: ["pipe", "pipe", "inherit"] });
    const [line] = await once(api.stdout, "data");
    const { port, authority } = JSON.parse(String(line));
    host = `127.0.0.1:${port}`;
    workspace.environment.SSL_CERT_FILE = authority;
    workspace.environment.CELLGATE_SECRET_API_TOKEN = token;
    for (const rule of [`inspect request ${host} --bearer \${secret:API_TOKEN} --variable API_TOKEN`, `allow request ${host} read-only`]) {
        await run(cellgateProgram(), ["policy", "add", "--root", workspace.path, rule], { env: workspace.environment });
    }
    await workspace.write("plan.py", `# %%
import os, urllib.error, urllib.request
def ask(path, data=None):
    headers = {"Authorization": "Bearer " + os.environ["API_TOKEN"]}
    try:
        return urllib.request.urlopen(urllib.request.Request("https://${host}" + path, data, headers)).read().decode()
    except urllib.error.HTTPError as error:
        return error.read().decode()
open("seen.txt", "w").write(ask("/user") + ask("/repos/plan/issues", b'{"title": "Plan"}'))
`);
}

scenario("request_is_judged", { prepare }, async ({ workspace, editor }) => {
    let asked = "";
    api.stdout.on("data", (data) => { asked += data; });
    try {
        await editor.openFile("plan.py");
        await editor.lens("Run Cell").first().click();
        const approvals = await Approvals.of(editor);
        await approvals.block(`POST https://${host}/repos/plan/issues`).waitFor();
        await approvals.block("with the secret API_TOKEN, which the code does not see").waitFor();
        await approvals.block('title: "Plan"').waitFor();
        await editor.screenshot("asked");
        await approvals.press(approvals.deny);
        await editor.lens(/\[1\] [\d.]+ m?s/).waitFor();
        const seen = await workspace.read("seen.txt");
        assert.match(seen, /\[secret API_TOKEN\]/);
        assert.ok(!seen.includes(token));
        const [request, ...others] = asked.trim().split("\n").map((line) => JSON.parse(line));
        assert.deepEqual(others, []);
        assert.equal(request.method, "GET");
        assert.equal(request.headers.authorization, `Bearer ${token}`);
    } finally {
        api.stdin.end("\n");
    }
});
