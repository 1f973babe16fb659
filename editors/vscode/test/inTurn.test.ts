import assert from "node:assert/strict";
import { test } from "node:test";
import { inTurn } from "../src/inTurn";

test("deeds are done one after the other, also after one that failed", async () => {
    const next = inTurn();
    const order: string[] = [];
    const deed = (name: string, fails = false) => async () => {
        order.push(`${name} begins`);
        await new Promise((resolve) => setImmediate(resolve));
        order.push(`${name} ends`);
        if (fails) throw new Error(name);
        return name;
    };
    const first = next(deed("first", true));
    const second = next(deed("second"));
    await assert.rejects(first, /first/);
    assert.equal(await second, "second");
    assert.deepEqual(order, ["first begins", "first ends", "second begins", "second ends"]);
});
