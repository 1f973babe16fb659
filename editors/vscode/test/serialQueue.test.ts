import assert from "node:assert/strict";
import { test } from "node:test";
import { serialQueue } from "../src/serialQueue";

test("tasks run one after the other, also after one that failed", async () => {
    const enqueue = serialQueue();
    const order: string[] = [];
    const task = (name: string, fails = false) => async () => {
        order.push(`${name} begins`);
        await new Promise((resolve) => setImmediate(resolve));
        order.push(`${name} ends`);
        if (fails) throw new Error(name);
        return name;
    };
    const first = enqueue(task("first", true));
    const second = enqueue(task("second"));
    await assert.rejects(first, /first/);
    assert.equal(await second, "second");
    assert.deepEqual(order, ["first begins", "first ends", "second begins", "second ends"]);
});
