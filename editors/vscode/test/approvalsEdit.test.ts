import assert from "node:assert/strict";
import { test } from "node:test";
import { editText, outlineOf, parseEdited } from "../src/approvals/edit";

test("arguments become text and come back as they were", () => {
    const args = { path: "a b", deep: [{ "": null }, 1.5, true], "\u202eodd": "line\nbreak \\u{41} \u202e\u{e0041} é" };
    const text = editText(args) ?? "";
    assert.deepEqual(JSON.parse(text), args);
    assert.ok(!/[\u202e\u{e0041}]/u.test(text), text);
    assert.ok(text.includes("\\u202e"), text);
    assert.ok(text.includes("é"));
});

test("a number that JavaScript cannot hold is not edited", () => {
    assert.equal(editText({ id: 9007199254740993 }), undefined); // eslint-disable-line no-loss-of-precision
    assert.equal(editText({ deep: [{ id: -9007199254740993 }] }), undefined); // eslint-disable-line no-loss-of-precision
    assert.ok(editText({ id: 9007199254740991 }));
    assert.throws(() => parseEdited('{"id": 9007199254740993}', outlineOf(undefined)), /too large/);
});

const schema = {
    properties: {
        path: { type: "string", description: "where" },
        head: { type: "integer" },
        mode: { enum: ["a", "b"] },
        both: { type: ["string", "null"] },
    },
    required: ["path"],
    additionalProperties: false,
};

test("the outline of a schema says what its arguments are", () => {
    assert.deepEqual(outlineOf(schema).fields.map(({ name, type, required }) => [name, type, required]), [
        ["path", "string", true],
        ["head", "integer", false],
        ["mode", 'one of ["a","b"]', false],
        ["both", "any", false],
    ]);
    assert.deepEqual(outlineOf(undefined), { fields: [], closed: false });
    assert.deepEqual(outlineOf({ properties: 1, required: "path" }), { fields: [], closed: false });
    assert.equal(outlineOf({ properties: { x: null } }).fields[0]?.type, "any");
});

test("what certainly does not fit is told while it is typed", () => {
    const problem = (text: string) => {
        try {
            parseEdited(text, outlineOf(schema));
            return undefined;
        } catch (error) {
            return (error as Error).message;
        }
    };
    assert.equal(problem('{"path": "x", "mode": "whatever", "both": null}'), undefined);
    assert.match(problem("{,}") ?? "", /not JSON/);
    assert.match(problem("3") ?? "", /object/);
    assert.match(problem("{}") ?? "", /path is missing/);
    assert.match(problem('{"path": 1}') ?? "", /path is not of type string/);
    assert.match(problem('{"path": "x", "head": 1.5}') ?? "", /head is not of type integer/);
    assert.match(problem('{"path": "x", "tail": 1}') ?? "", /no argument tail/);
});
