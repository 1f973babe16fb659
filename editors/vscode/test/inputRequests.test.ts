import assert from "node:assert/strict";
import { setImmediate as turn } from "node:timers/promises";
import { test } from "node:test";
import { CancellationTokenSource } from "vscode-jsonrpc/node";
import { InputRequests, type Outcome } from "../src/input/requests";

const request = (where: string) => ({ where, prompt: `${where}?`, password: false });

function place() {
    const boxes: { where: string; typed: string; closed: boolean; end: (outcome: Outcome) => Promise<void> }[] = [];
    const requests = new InputRequests(({ where }, typed) => {
        let resolve: (outcome: Outcome) => void = () => undefined;
        const outcome = new Promise<Outcome>((each) => (resolve = each));
        const box = {
            where,
            typed,
            closed: false,
            end: async (how: Outcome) => {
                resolve(how);
                await turn();
            },
        };
        boxes.push(box);
        return { outcome, close: () => (box.closed = true) };
    });
    const ask = (where: string, source = new CancellationTokenSource()) => {
        const asked = { answer: undefined as string | undefined, source };
        requests.ask(request(where), source.token).then(
            (value) => (asked.answer = value),
            (error: unknown) => (asked.answer = String(error)),
        );
        return asked;
    };
    const last = () => {
        const box = boxes.at(-1);
        assert.ok(box);
        return box;
    };
    return { requests, boxes, ask, last };
}

test("requests are shown one after the other", async () => {
    const { requests, boxes, ask, last } = place();
    const [a, b] = [ask("a"), ask("b")];
    assert.deepEqual(boxes.map(({ where }) => where), ["a"]);
    await last().end({ value: "1" });
    assert.deepEqual([a.answer, b.answer, last().where], ["1", undefined, "b"]);
    await last().end("endOfInput");
    assert.deepEqual([b.answer, requests.isShown], ["Error: the user ended the input", false]);
});

test("a request that something else took away waits for a user, with what was typed", async () => {
    const { requests, boxes, ask, last } = place();
    const a = ask("a");
    await last().end({ displaced: "Ad" });
    const b = ask("b");
    assert.deepEqual([boxes.length, a.answer, requests.unseen()], [1, undefined, { first: request("a"), count: 2 }]);
    requests.resume();
    assert.deepEqual([last().where, last().typed, requests.unseen()], ["a", "Ad", undefined]);
    await last().end({ value: "Ada" });
    assert.deepEqual([a.answer, last().where], ["Ada", "b"]);
    await last().end({ value: "2" });
    assert.equal(b.answer, "2");
});

test("one that waits unseen can be ended without being shown", async () => {
    const { requests, boxes, ask, last } = place();
    const [a, b] = [ask("a"), ask("b")];
    await last().end({ displaced: "" });
    requests.endFirst();
    await turn();
    assert.deepEqual([a.answer, b.answer, boxes.length, last().where], ["Error: the user ended the input", undefined, 2, "b"]);
});

test("a request that is not asked any more goes, and what is behind it comes", async () => {
    const { requests, boxes, ask, last } = place();
    const [a, b, c] = [ask("a"), ask("b"), ask("c")];
    b.source.cancel();
    a.source.cancel();
    await turn();
    assert.deepEqual([boxes[0]?.closed, last().where, requests.isShown], [true, "c", true]);
    await last().end({ displaced: "" });
    c.source.cancel();
    await turn();
    assert.equal(requests.unseen(), undefined);
    ask("d");
    assert.equal(last().where, "d");
});

test("with the connection all requests end, and the next one's are shown", async () => {
    const { requests, ask, last } = place();
    const [a, b] = [ask("a"), ask("b")];
    requests.rejectAll();
    await turn();
    assert.deepEqual([a.answer, b.answer, last().closed], ["Error: the connection has ended", "Error: the connection has ended", true]);
    ask("c");
    assert.equal(last().where, "c");
});
