import assert from "node:assert/strict";
import { test } from "node:test";
import { KernelsElsewhere, hostOf } from "../src/kernels/elsewhere";
import { FakeMemory } from "./fakeMemory";

const onServer = (url: string, name = "python3") => ({ name: `${name} on ${hostOf(url)}`, language: "python", kernel: { server: { url, name } } });

test("kernels elsewhere are kept, the latest first, each once, and not too many", async () => {
    const elsewhere = new KernelsElsewhere(new FakeMemory());
    let changes = 0;
    elsewhere.onDidChange(() => changes++);
    await elsewhere.add(onServer("https://a"));
    await elsewhere.add(onServer("https://b"));
    await elsewhere.add(onServer("https://a"));
    assert.deepEqual(elsewhere.all().map(({ name }) => name), ["python3 on a", "python3 on b"]);
    assert.equal(changes, 3);
    for (let i = 0; i < 9; i++) await elsewhere.add({ name: `${i}`, kernel: { connectionFile: `kernel-${i}.json` } });
    assert.deepEqual(elsewhere.all().map(({ name }) => name), ["8", "7", "6", "5", "4"]);
});

test("a server is known by its host and port", () => {
    assert.equal(hostOf("http://127.0.0.1:8888/user/me"), "127.0.0.1:8888");
    assert.equal(hostOf("https://hub.example.org"), "hub.example.org");
});
