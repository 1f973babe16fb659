import assert from "node:assert/strict";
import { test } from "node:test";
import { expected, initialEntry, refusalOf, valueOf, type Entry } from "../src/approvals/fields";
import type { ElicitationField } from "../src/protocol/messages";
import { fieldOf } from "./elicitation";

const wrong = (field: ElicitationField, entry: Entry, why: RegExp) => assert.throws(() => valueOf(field, entry), why, JSON.stringify([field, entry]));

test("a form that is sent as it came has the values that it proposed", () => {
    const fields = [
        fieldOf("text", { initial: "Ada" }),
        fieldOf("number", { initial: 2.5 }),
        fieldOf("integer", { initial: 0 }),
        fieldOf("boolean", { initial: false }),
        fieldOf("choice", { initial: "hall" }),
        fieldOf("choices", { initial: ["roof", "garden"] }),
        fieldOf("choices", { initial: [] }),
    ];
    assert.deepEqual(fields.map((field) => valueOf(field, initialEntry(field))), ["Ada", 2.5, 0, false, "hall", ["roof", "garden"], []]);
});

test("what is left empty is left out, unless it has to be filled in", () => {
    for (const type of ["text", "number", "integer", "boolean", "choice", "choices"] as const) {
        const entry = initialEntry(fieldOf(type));
        assert.equal(valueOf(fieldOf(type), entry), undefined);
        if (type !== "choices") wrong(fieldOf(type, { required: true }), entry, /fill this in|choose one/);
    }
    assert.deepEqual(valueOf(fieldOf("choices", { required: true }), []), [], "none of them is an answer");
    wrong(fieldOf("choices", { required: true, minimum: 1 }), [], /at least 1/);
});

test("a text has the length and the format that is asked for", () => {
    const named = fieldOf("text", { minimum: 2, maximum: 3 });
    assert.equal(valueOf(named, " 😀😀"), " 😀😀", "characters are counted, and spaces stay");
    wrong(named, "a", /at least 2 characters: there are 1/);
    wrong(named, "abcd", /at most 3 characters: there are 4/);
    wrong(fieldOf("text"), "\ud83d", /half of a character/);
    const good = {
        email: ["ada@example.org"],
        uri: ["https://example.org/a?b", "urn:isbn:1"],
        date: ["2028-02-29"],
        "date-time": ["2026-02-01T18:30:00Z", "2026-02-01T18:30:00.5+02:00"],
    };
    const bad = {
        email: ["ada", "ada@", "a b@example.org"],
        uri: ["example.org", "https://a b"],
        date: ["2026-02-29", "1.2.2026", "2026-2-1"],
        "date-time": ["2026-02-01T18:30:00", "2026-02-30T18:30:00Z", "2026-02-01T25:30:00Z", "2026-02-01"],
    };
    for (const format of ["email", "uri", "date", "date-time"] as const) {
        for (const text of good[format]) assert.equal(valueOf(fieldOf("text", { format }), text), text);
        for (const text of bad[format]) wrong(fieldOf("text", { format }), text, /^Error: not an? /);
    }
});

test("a number is one, within its bounds", () => {
    const people = fieldOf("integer", { minimum: 1, maximum: 8 });
    assert.deepEqual([valueOf(people, " 4 "), valueOf(fieldOf("number"), "-2.5e3"), valueOf(people, "1"), valueOf(people, "8")], [4, -2500, 1, 8]);
    wrong(people, "0", /at least 1/);
    wrong(people, "9", /at most 8/);
    wrong(people, "2.5", /whole number/);
    for (const text of ["four", "0x4", "1e400", "2,5", "Infinity", " "]) wrong(fieldOf("number"), text, /not a number/);
    wrong(fieldOf("integer"), "9007199254740993", /whole number/);
});

test("only what is offered can be chosen, as many as may be", () => {
    const places = fieldOf("choices", { minimum: 1, maximum: 2 });
    assert.deepEqual([valueOf(places, ["2", "0"]), valueOf(fieldOf("choice"), "1"), valueOf(fieldOf("boolean"), "true")], [["roof", "garden"], "hall", true]);
    wrong(places, ["0", "1", "2"], /at most 2/);
    wrong(fieldOf("choice"), "3", /choose one/);
    wrong(places, ["7"], /choose one/);
    assert.equal(initialEntry(fieldOf("choice", { initial: "cellar" })), "", "what is not offered is not proposed");
});

test("it is said what is expected", () => {
    assert.equal(expected(fieldOf("text", { format: "date", required: true })), "a date");
    assert.equal(expected(fieldOf("text", { minimum: 1, maximum: 40 })), "at least 1 and at most 40 characters, optional");
    assert.equal(expected(fieldOf("integer", { minimum: 0, maximum: 8, required: true })), "a whole number, at least 0 and at most 8");
    assert.equal(expected(fieldOf("choices", { minimum: 2, maximum: 2, required: true })), "2 of them");
    assert.equal(expected(fieldOf("choices", { minimum: 0, maximum: 2, required: true })), "at most 2 of them");
    assert.equal(expected(fieldOf("boolean", { required: true })), "");
});

test("a refusal of cellgate is shown at its field", () => {
    const names = ["day", "day: month", "people"];
    assert.deepEqual(refusalOf(names, "day: expected a date\nCorrect it."), { name: "day", why: "expected a date" });
    assert.deepEqual(refusalOf(names, "day: month: expected 2"), { name: "day: month", why: "expected 2" });
    assert.equal(refusalOf(names, "no elicitation with this id waits"), undefined);
});
