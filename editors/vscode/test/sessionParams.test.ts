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

test("a kernel that cellgate does not start has no sandbox, and on a server no variables", () => {
    const env = { A: "1" };
    assert.deepEqual(sessionParams({ kernel: { connectionFile: "" }, sandbox: image, env }), { kernel: { connectionFile: "" }, sandbox: undefined, env });
    const server = { url: "https://hub.example.org" };
    assert.deepEqual(sessionParams({ kernel: { server }, sandbox: image, env }), { kernel: { server }, sandbox: undefined, env: undefined });
});
