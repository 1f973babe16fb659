import assert from "node:assert/strict";
import { setImmediate as turn } from "node:timers/promises";
import { test } from "node:test";
import { CancellationTokenSource } from "vscode-jsonrpc/node";
import { Questions, type Outcome } from "../src/input/questions";

const question = (where: string) => ({ where, prompt: `${where}?`, password: false });

function place() {
    const boxes: { where: string; typed: string; closed: boolean; end: (outcome: Outcome) => Promise<void> }[] = [];
    const questions = new Questions(({ where }, typed) => {
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
        questions.ask(question(where), source.token).then(
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
    return { questions, boxes, ask, last };
}

test("questions are shown one after the other", async () => {
    const { questions, boxes, ask, last } = place();
    const [a, b] = [ask("a"), ask("b")];
    assert.deepEqual(boxes.map(({ where }) => where), ["a"]);
    await last().end({ value: "1" });
    assert.deepEqual([a.answer, b.answer, last().where], ["1", undefined, "b"]);
    await last().end("endOfInput");
    assert.deepEqual([b.answer, questions.isShown], ["Error: nobody typed anything", false]);
});

test("a question that something else took away waits for a person, with what was typed", async () => {
    const { questions, boxes, ask, last } = place();
    const a = ask("a");
    await last().end({ displaced: "Ad" });
    const b = ask("b");
    assert.deepEqual([boxes.length, a.answer, questions.unseen()], [1, undefined, { first: question("a"), count: 2 }]);
    questions.resume();
    assert.deepEqual([last().where, last().typed, questions.unseen()], ["a", "Ad", undefined]);
    await last().end({ value: "Ada" });
    assert.deepEqual([a.answer, last().where], ["Ada", "b"]);
    await last().end({ value: "2" });
    assert.equal(b.answer, "2");
});

test("one that waits unseen can be ended without being shown", async () => {
    const { questions, boxes, ask, last } = place();
    const [a, b] = [ask("a"), ask("b")];
    await last().end({ displaced: "" });
    questions.endFirst();
    await turn();
    assert.deepEqual([a.answer, b.answer, boxes.length, last().where], ["Error: nobody typed anything", undefined, 2, "b"]);
});

test("a question that is not asked any more goes, and what is behind it comes", async () => {
    const { questions, boxes, ask, last } = place();
    const [a, b, c] = [ask("a"), ask("b"), ask("c")];
    b.source.cancel();
    a.source.cancel();
    await turn();
    assert.deepEqual([boxes[0]?.closed, last().where, questions.isShown], [true, "c", true]);
    await last().end({ displaced: "" });
    c.source.cancel();
    await turn();
    assert.equal(questions.unseen(), undefined);
    ask("d");
    assert.equal(last().where, "d");
});

test("with the connection all questions end, and the next one's are shown", async () => {
    const { questions, ask, last } = place();
    const [a, b] = [ask("a"), ask("b")];
    questions.giveUp();
    await turn();
    assert.deepEqual([a.answer, b.answer, last().closed], ["Error: the connection has ended", "Error: the connection has ended", true]);
    ask("c");
    assert.equal(last().where, "c");
});
