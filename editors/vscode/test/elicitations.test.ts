import assert from "node:assert/strict";
import { setImmediate as turn } from "node:timers/promises";
import { test } from "node:test";
import { ResponseError } from "vscode-jsonrpc/node";
import { keyOf } from "../src/approvals/answer";
import { endText } from "../src/approvals/elicitations";
import { expected } from "../src/approvals/fields";
import { isElicitationItem, type FromPage, type Item, type ToPage } from "../src/approvals/messages";
import { PageModel } from "../src/approvals/pageModel";
import { replyOf } from "../src/approvals/reply";
import { waitingText } from "../src/approvals/waiting";
import { webPage } from "../src/webPage";
import { fieldOf, pageQuestionOf, questionOf } from "./elicitation";
import { pages } from "./pages";

const ids = ({ items }: { items: readonly Item[] }) => items.map(({ id }) => id);
const accept = (nonce: string, id: string, values: Record<string, unknown> = {}): FromPage => ({ type: "reply", nonce, id: `elicitation ${id}`, action: "accept", values });
const refused = (received: readonly ToPage[]) => received.filter((message) => message.type === "refused").map(({ text }) => text);

test("questions and calls wait in one list, in the order in which they came", async () => {
    const { ask, question, page, waiting } = pages();
    const view = page();
    question("q", { createdAt: "2026-01-05T09:30:01.000Z" });
    ask("a", { createdAt: "2026-01-05T09:30:02.500Z" });
    question("r", { createdAt: "2026-01-05T09:30:03.000Z" });
    await turn();
    assert.deepEqual(ids(view.last), ["elicitation q", "a", "elicitation r"]);
    assert.deepEqual([waiting.count, waiting.text], [3, "1 call and 2 questions wait for your answer"]);
    assert.deepEqual([waitingText(1, 0), waitingText(0, 1), waitingText(0, 0)], ["1 call waits for your answer", "1 question waits for your answer", "0 calls wait for your answer"]);
});

test("a question and a call with the same id are two", async () => {
    const { ask, question, page, replies, answers } = pages();
    const view = page();
    ask("1");
    question("1");
    await turn();
    assert.deepEqual(ids(view.last), ["1", "elicitation 1"]);
    await view.connection.take(accept(view.last.nonce, "1", { day: "2026-02-01" }));
    await turn();
    assert.deepEqual([ids(view.last), answers.length], [["1"], 0]);
    assert.deepEqual(replies, [{ elicitationId: "1", action: "accept", values: { day: "2026-02-01" } }]);
    await view.connection.take({ type: "answer", nonce: view.last.nonce, ids: ["1"], decision: "allow", option: keyOf({ label: "", scope: "once" }) });
    assert.equal(answers.length, 1);
});

test("an answer counts with the last nonce of its own page, and for what is shown", async () => {
    const { question, page, replies } = pages();
    const [view, editor] = [page(), page()];
    question("q");
    await turn();
    const before = view.last.nonce;
    await view.connection.take(accept(editor.last.nonce, "q"));
    question("r");
    await turn();
    await view.connection.take(accept(before, "q"));
    await view.connection.take(accept(view.last.nonce, "s"));
    assert.deepEqual([replies.length, refused(view.received).length], [0, 3]);
    // The control: nothing else was wrong.
    await view.connection.take(accept(view.last.nonce, "q"));
    await turn();
    assert.deepEqual([replies.length, view.last.decided, editor.last.decided.length], [1, [{ id: "elicitation q", text: "answered here" }], 1]);
});

test("what is no answer is none", () => {
    const shown = { nonce: "n", elicitations: new Map([["f", questionOf("f")], ["u", questionOf("u", pageQuestionOf("https://pay.example/", "pay.example"))]]) };
    const given = (more: object) => replyOf({ nonce: "n", id: "f", action: "accept", values: {}, ...more }, shown);
    assert.deepEqual(given({}), { elicitationId: "f", action: "accept", values: {} });
    assert.deepEqual(given({ action: "decline" }), { elicitationId: "f", action: "decline" });
    assert.deepEqual(given({ action: "cancel" }), { elicitationId: "f", action: "cancel" });
    assert.deepEqual(given({ id: "u", action: "decline" }), { elicitationId: "u", action: "decline" });
    assert.throws(() => given({ action: "perhaps" }), /neither yes nor no/);
    assert.throws(() => given({ values: ["a"] }), /without values/);
    assert.throws(() => given({ id: 1 }), /not shown/);
    assert.throws(() => given({ id: "u" }), /not opened/);
});

test("an answer that does not fit is refused with its reason, and the question still waits", async () => {
    const { question, page, refuse, replies } = pages();
    const view = page();
    question("q");
    await turn();
    refuse(new ResponseError(1027, "day: expected a date", { kind: "answerInvalid", hint: "Correct the field." }));
    await view.connection.take(accept(view.last.nonce, "q", { day: "soon" }));
    await turn();
    assert.deepEqual([refused(view.received), ids(view.last)], [["day: expected a date. Correct the field."], ["elicitation q"]]);
    refuse(undefined);
    await view.connection.take(accept(view.last.nonce, "q", { day: "2026-02-01" }));
    assert.equal(replies.length, 1);
});

test("a page is accepted once the user let it be opened, and copying its URL answers nothing", async () => {
    const { question, page, letOpen, opened, copied, replies } = pages();
    const view = page();
    const url = "https://pay.example/cards?state=a%26b";
    question("q", pageQuestionOf(url, "pay.example"));
    await turn();
    await view.connection.take({ type: "copyUrl", id: "elicitation q" });
    const open = () => view.connection.take({ type: "openPage", nonce: view.last.nonce, id: "elicitation q" });
    letOpen(false);
    await open();
    assert.deepEqual([copied, opened, replies], [[url], [], []]);
    assert.equal(refused(view.received).length, 1);
    letOpen(true);
    await view.connection.take({ type: "openPage", nonce: "of before", id: "elicitation q" });
    assert.deepEqual(opened, []);
    await open();
    assert.deepEqual([opened, replies], [[url], [{ elicitationId: "q", action: "accept" }]]);
});

test("only web pages are opened", () => {
    for (const url of ["https://login.example/a?b=c%26d", "http://127.0.0.1:8000/"]) assert.equal(webPage(url), url);
    for (const url of ["command:workbench.action.quit", "javascript:alert(1)", "file:///etc/passwd", "vscode://ext/run", "login.example", ""]) {
        assert.throws(() => webPage(url), /only pages of http and https/, url);
    }
});

test("what the connection announced ends with it, and how each question ended is said", () => {
    const { question, notify, waiting } = pages();
    const texts: string[] = [];
    waiting.elicitations.onDidEnd((ended) => texts.push(endText(ended)));
    for (const id of ["q", "r", "s", "t"]) question(id);
    notify("elicitation/resolved", { elicitationId: "q", action: "cancel", by: "cancelled" });
    notify("elicitation/resolved", { elicitationId: "r", action: "decline", by: "user" });
    notify("elicitation/resolved", { elicitationId: "s", action: "cancel", by: "user" });
    assert.deepEqual(texts, ["withdrawn: the call has ended", "declined by a user in another window or editor", "closed without an answer by a user in another window or editor"]);
    assert.equal(waiting.count, 1);
});

test("a question that comes while the user interacts moves nothing, and does not join a table", async () => {
    const { ask, question, page } = pages();
    const view = page();
    for (const id of ["a", "b"]) ask(id);
    await turn();
    const model = new PageModel();
    model.take(view.last.items, [], false);
    const [table] = model.blocks;
    question("q");
    ask("c", { createdAt: "2026-01-05T09:30:04.000Z" });
    await turn();
    model.take(view.last.items, [], true);
    assert.deepEqual(model.blocks[0], table);
    assert.deepEqual(model.blocks.map((block) => block.ids), [["a", "b"], ["elicitation q"], ["c"]]);
    assert.deepEqual(model.blocks.map((block) => model.itemsOf(block).some(isElicitationItem)), [false, true, false]);
});

test("what a tool server wrote shows as text, with what would hide in it", async () => {
    const { question, page } = pages();
    const view = page();
    question("q", { message: "When?\nSoon\u202e", ...pageQuestionOf("https://pay.example/\u202e", "pay\u200b.example") });
    await turn();
    const [item] = view.last.items;
    assert.ok(item && isElicitationItem(item));
    assert.deepEqual(item.elicitation, {
        title: "booking asks you",
        tool: "book_table",
        message: "When?\nSoon\\u{202e}",
        page: { url: "https://pay.example/\\u{202e}", host: "pay\\u{200b}.example" },
    });
});

test("what a server needs before it starts is of no tool", async () => {
    const { question, page, replies } = pages();
    const view = page();
    const token = fieldOf("text", { name: "token", required: true, secret: true });
    question("q", { server: "tracker\u202e", tool: undefined, message: "tracker needs this before it starts", fields: [token] });
    await turn();
    const [item] = view.last.items;
    assert.ok(item && isElicitationItem(item));
    assert.deepEqual(item.elicitation, {
        title: "tracker\\u{202e} needs something from you",
        message: "tracker needs this before it starts",
        fields: [token],
    });
    assert.equal(expected(token), "typed unseen");
    await view.connection.take(accept(view.last.nonce, "q", { token: "s3cr3t" }));
    await turn();
    assert.deepEqual(replies, [{ elicitationId: "q", action: "accept", values: { token: "s3cr3t" } }]);
    assert.equal(JSON.stringify(view.received).includes("s3cr3t"), false);
});
