import assert from "node:assert/strict";
import { setImmediate as turn } from "node:timers/promises";
import { test } from "node:test";
import { Emitter } from "vscode-jsonrpc/node";
import { keyOf } from "../src/approvals/answer";
import { EditorOffer, manyCalls } from "../src/approvals/editorOffer";
import type { FromPage, ToPage } from "../src/approvals/messages";
import { PageConnection } from "../src/approvals/pageConnection";
import { pageHtml, type PageLoader } from "../src/approvals/pageLoader";
import { ApprovalsPanel } from "../src/approvals/panel";
import { itemFor } from "./approval";
import { pages } from "./pages";

const once = keyOf({ label: "", scope: "once" });

const answer = (nonce: string, ids: string[]): FromPage => ({ type: "answer", nonce, ids, decision: "allow", option: once });
const ids = (message: ToPage & { type: "waiting" }) => message.items.map(({ id }) => id);

test("an answer in either page resolves in both", async () => {
    const { ask, page, answers } = pages();
    const [view, editor] = [page(), page()];
    for (const id of ["a", "b"]) ask(id);
    await turn();
    assert.deepEqual([ids(view.last), ids(editor.last)], [["a", "b"], ["a", "b"]]);
    await editor.connection.take(answer(editor.last.nonce, ["a"]));
    await turn();
    assert.deepEqual([ids(view.last), ids(editor.last)], [["b"], ["b"]]);
    assert.deepEqual(view.last.decided, [{ id: "a", text: "allowed here" }]);
    assert.deepEqual(editor.last.decided, view.last.decided);
    await view.connection.take(answer(view.last.nonce, ["b"]));
    await turn();
    assert.deepEqual([ids(view.last), ids(editor.last)], [[], []]);
    assert.deepEqual(answers.map(({ approvalIds }) => approvalIds), [["a"], ["b"]]);
});

test("a page answers with its own last nonce only", async () => {
    const { ask, page, answers } = pages();
    const [view, editor] = [page(), page()];
    ask("a");
    await turn();
    const before = editor.last.nonce;
    await editor.connection.take(answer(view.last.nonce, ["a"]));
    ask("b");
    await turn();
    await editor.connection.take(answer(before, ["a"]));
    assert.deepEqual(answers, []);
    assert.equal(editor.received.filter(({ type }) => type === "refused").length, 2);
    // The control: the nonce was all that was wrong.
    await editor.connection.take(answer(editor.last.nonce, ["a"]));
    assert.equal(answers.length, 1);
});

test("changes of one turn are one message, and a closed page gets none", async () => {
    const { ask, page } = pages();
    const view = page();
    for (const id of ["a", "b", "c"]) ask(id);
    await turn();
    assert.equal(view.received.length, 1);
    ask("d");
    view.connection.dispose();
    await turn();
    ask("e");
    view.connection.refresh();
    view.connection.sendVisibility();
    await turn();
    assert.equal(view.received.length, 1);
});

test("what is edited is the text that cellgate laid out, and a call without one cannot be", async () => {
    const { ask, page } = pages();
    const view = page();
    const editText = '{\n  "one": 1.0,\n  "large": 12345678901234567890,\n  "huge": 1e400\n}';
    ask("a", { editText });
    ask("b", { editText: undefined });
    await turn();
    view.received.length = 0;
    for (const id of ["a", "b"]) await view.connection.take({ type: "edit", id });
    assert.deepEqual(view.received, [
        { type: "editor", id: "a", text: editText, outline: [] },
        { type: "refused", ids: ["b"], text: "this cannot be edited" },
    ]);
    assert.deepEqual([itemFor("a", "a", { editText }), itemFor("b", "b", { editText: undefined })].map(({ editable }) => editable), [true, false]);
});

test("the button of the page asks for the editor tab, and answers nothing", async () => {
    const { ask, page, opened, answers } = pages();
    const view = page();
    ask("a");
    await view.connection.take({ type: "openEditor" });
    assert.deepEqual([opened, answers], [["editor"], []]);
});

test("both hosts load the same page, and a nonce runs its one script", () => {
    const [view, editor] = (["sideBar", "editor"] as const).map((kind) => pageHtml("run()", "p {}", kind)) as [string, string];
    const withoutNonce = (html: string) => html.replaceAll(/[0-9a-f]{32}/g, "N");
    assert.equal(withoutNonce(view).replace('"sideBar"', '"editor"'), withoutNonce(editor));
    assert.match(editor, /default-src 'none'; style-src 'nonce-[0-9a-f]{32}'; script-src 'nonce-[0-9a-f]{32}'/);
});

test("the tab is offered once each time that many calls wait", () => {
    const offer = new EditorOffer();
    const counts = [1, 3, manyCalls - 1, manyCalls, 20, 5, 12, 3, 9, 0, 7, 8];
    assert.deepEqual(counts.filter((count) => offer.take(count, false)), [manyCalls, 9, 8]);
    const open = new EditorOffer();
    assert.deepEqual([open.take(9, true), open.take(9, false)], [false, false], "who has it open needs no offer");
});

/** A panel of the editor, as far as it is used. */
function fakePanel() {
    const [states, disposals] = [new Emitter<unknown>(), new Emitter<unknown>()];
    const panel = {
        visible: true,
        revealed: 0,
        reveal: () => {
            panel.revealed++;
        },
        onDidChangeViewState: states.event,
        onDidDispose: disposals.event,
        dispose: () => {
            disposals.fire(undefined);
        },
        hide: () => {
            panel.visible = false;
            states.fire(undefined);
        },
    };
    return panel;
}

test("the tab opens when it is asked for and not by itself, and is one", async () => {
    const { ask, host } = pages();
    const panels: ReturnType<typeof fakePanel>[] = [];
    const received: ToPage[] = [];
    const load: PageLoader = (container, kind) => {
        assert.equal(kind, "editor");
        return new PageConnection(host, {
            get visible() {
                return container.visible;
            },
            post: (message) => received.push(message),
        });
    };
    const create = () => {
        const made = fakePanel();
        panels.push(made);
        return made as unknown as ReturnType<ConstructorParameters<typeof ApprovalsPanel>[0]>;
    };
    const panel = new ApprovalsPanel(create, load);
    for (let i = 0; i < 20; i++) ask(String(i));
    await turn();
    assert.deepEqual([panels.length, panel.isOpen], [0, false]);
    panel.show();
    panel.show();
    assert.deepEqual([panels.length, panels[0]?.revealed, panel.visible], [1, 1, true]);
    panels[0]?.hide();
    assert.deepEqual(received, [{ type: "shown", shown: false }]);
    panels[0]?.dispose();
    assert.deepEqual([panel.isOpen, panel.visible], [false, false]);
    panel.show();
    assert.equal(panels.length, 2);
});

test("a yes that a security key has to confirm says so, and can be given up; a no needs none", async () => {
    const { ask, page, answers, touched, refuse } = pages();
    const view = page();
    for (const id of ["a", "b"]) ask(id, { confirm: "touch" });
    ask("c");
    await turn();
    await view.connection.take({ type: "answer", nonce: view.last.nonce, ids: ["a"], decision: "deny" });
    await turn();
    await view.connection.take(answer(view.last.nonce, ["c"]));
    await turn();
    assert.deepEqual(touched(), [0, 0]);
    refuse(new Error("the security key did not sign"));
    await view.connection.take(answer(view.last.nonce, ["b"]));
    assert.deepEqual(view.received.at(-1), { type: "refused", ids: ["b"], text: "the security key did not sign" });
    assert.deepEqual(ids(view.last), ["b"]);
    refuse(undefined);
    await view.connection.take(answer(view.last.nonce, ["b"]));
    await turn();
    assert.deepEqual([touched(), ids(view.last)], [[2, 2], []]);
    assert.deepEqual(answers.map(({ approvalIds }) => approvalIds), [["a"], ["c"], ["b"]]);
});
