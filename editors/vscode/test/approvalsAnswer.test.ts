import assert from "node:assert/strict";
import { test } from "node:test";
import { answerOf, keyOf, type PageState } from "../src/approvals/answer";
import { anyRead, approvalOf, readUnder } from "./approval";

const shown = [approvalOf("a", "data/1"), approvalOf("b", "data/2"), approvalOf("out", "/etc/passwd")];
const pageState: PageState = { nonce: "n", approvals: new Map(shown.map((each) => [each.approvalId, each])), elicitations: new Map() };
const once = keyOf({ label: "", scope: "once" });
const folder = keyOf({ label: "", scope: "session", rule: readUnder("data") });
const any = keyOf({ label: "", scope: "session", rule: anyRead });
const yes = { nonce: "n", ids: ["a"], decision: "allow", option: once };

test("an answer for what is shown, with its nonce, counts", () => {
    assert.deepEqual(answerOf(yes, pageState), { approvalIds: ["a"], decision: "allow", scope: "once", rule: undefined });
    assert.deepEqual(answerOf({ ...yes, ids: ["a", "b"], option: folder }, pageState), {
        approvalIds: ["a", "b"],
        decision: "allow",
        scope: "session",
        rule: readUnder("data"),
    });
});

test("the same words without the nonce of the last items answer nothing", () => {
    const forged = { ids: yes.ids, decision: yes.decision, option: yes.option };
    assert.throws(() => answerOf(forged, pageState), /what waits changed/);
    assert.throws(() => answerOf({ ...forged, nonce: "of before" }, pageState), /what waits changed/);
    // The control: nothing but the nonce held them off.
    assert.equal(answerOf({ ...forged, nonce: "n" }, pageState).decision, "allow");
});

test("an item that is not shown cannot be answered", () => {
    assert.throws(() => answerOf({ ...yes, ids: ["a", "hidden"] }, pageState), /not shown/);
    assert.throws(() => answerOf({ ...yes, ids: [] }, pageState), /no call/);
    assert.throws(() => answerOf({ ...yes, ids: "a" }, pageState), /no call/);
    assert.throws(() => answerOf({ ...yes, ids: [1] }, pageState), /no call/);
});

test("what is not offered for each of the calls cannot be taken", () => {
    assert.throws(() => answerOf({ ...yes, ids: ["a", "out"], option: folder }, pageState), /not offered/);
    assert.equal(answerOf({ ...yes, ids: ["a", "out"], option: any }, pageState).scope, "session");
    assert.throws(() => answerOf({ ...yes, option: '["always",null]' }, pageState), /not offered/);
    assert.throws(() => answerOf({ ...yes, option: undefined }, pageState), /not offered/);
    assert.throws(() => answerOf({ ...yes, decision: "perhaps" }, pageState), /neither yes nor no/);
});

test("a no takes its reason along", () => {
    const no = { nonce: "n", ids: ["a", "out"], decision: "deny" };
    assert.deepEqual(answerOf({ ...no, reason: " not today " }, pageState), { approvalIds: ["a", "out"], decision: "deny", reason: "not today" });
    assert.equal(answerOf({ ...no, reason: "  " }, pageState).reason, undefined);
});

test("edited arguments answer one call, once", () => {
    const edited = { nonce: "n", ids: ["a"], decision: "allow", arguments: '{"path": "else", "scale": 1.0}' };
    // The text itself: numbers as they are written.
    assert.deepEqual(answerOf(edited, pageState), { approvalIds: ["a"], decision: "allow", argumentsText: edited.arguments });
    assert.throws(() => answerOf({ ...edited, ids: ["a", "b"] }, pageState), /one call/);
    assert.throws(() => answerOf({ ...edited, arguments: "{" }, pageState), /not JSON/);
    assert.throws(() => answerOf({ ...edited, arguments: "[]" }, pageState), /object/);
});
