import assert from "node:assert/strict";
import { test } from "node:test";
import { sessionParams } from "../src/kernels/sessionParams";

const image = { image: "analysis" };

test("in an image, the image's Python is the kernel, and none of this machine", () => {
    const params = { sessionId: "s", kernel: { interpreter: "/usr/bin/python3" }, sandbox: image };
    assert.deepEqual(sessionParams(params), { sessionId: "s", kernel: undefined, sandbox: image });
    const other = { ...params, sandbox: { launcher: "gvisor" as const } };
    assert.deepEqual(sessionParams(other), other);
});

test("a kernel that cellgate does not start gets neither a sandbox nor variables", () => {
    const params = { sandbox: image, env: { A: "1" } };
    assert.deepEqual(sessionParams({ ...params, kernel: { name: "python3" } }).env, params.env);
    for (const kernel of [{ connectionFile: "" }, { server: { url: "https://hub.example.org" } }]) {
        assert.deepEqual(sessionParams({ ...params, kernel }), { kernel, sandbox: undefined, env: undefined });
    }
});
