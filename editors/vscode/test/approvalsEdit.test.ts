import assert from "node:assert/strict";
import { test } from "node:test";
import { checkEdited, editText, outlineOf } from "../src/approvals/edit";
import { exactly } from "../src/exactJson";

test("arguments become text and come back as they were", () => {
    const args = { path: "a b", deep: [{ "": null }, 1.5, true], "\u202eodd": "line\nbreak \\u{41} \u202e\u{e0041} é" };
    const text = editText(exactly(JSON.stringify(args)));
    assert.deepEqual(JSON.parse(text), args);
    assert.ok(!/[\u202e\u{e0041}]/u.test(text), text);
    assert.ok(text.includes("\\u202e"), text);
    assert.ok(text.includes("é"));
});

test("numbers are edited as they were written", () => {
    const text = '{"a":1.0,"b":1e400,"c":[9223372036854775809,-0],"d":{},"e":[]}';
    assert.equal(
        editText(exactly(text)),
        '{\n  "a": 1.0,\n  "b": 1e400,\n  "c": [\n    9223372036854775809,\n    -0\n  ],\n  "d": {},\n  "e": []\n}',
    );
    // The control: what JavaScript makes of it.
    assert.equal(JSON.stringify(JSON.parse(text)), '{"a":1,"b":null,"c":[9223372036854776000,0],"d":{},"e":[]}');
    checkEdited(text, outlineOf({ properties: { a: { type: "integer" }, b: { type: "integer" } } }));
});

test("a name that is given twice is told, wherever it stands", () => {
    for (const text of ['{"a": 1, "a": 2}', '{"x": [{"a": 1, "b": 2, "\\u0061": 3}]}', '{"a": {"a": 1}, "\\u0061": 2}']) {
        assert.throws(() => checkEdited(text, outlineOf(undefined)), /the name a is given twice/);
    }
    checkEdited('{"a": {"a": "a"}, "b": [{"a": 1}, {"a": 1}]}', outlineOf(undefined));
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
            checkEdited(text, outlineOf(schema));
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
