import assert from "node:assert/strict";
import { test } from "node:test";
import { checkEdited, editText } from "../src/approvals/edit";
import { parseExact } from "../src/exactJson";

test("arguments become text and come back as they were", () => {
    const args = { path: "a b", deep: [{ "": null }, 1.5, true], "\u202eodd": "line\nbreak \\u{41} \u202e\u{e0041} é" };
    const text = editText(parseExact(JSON.stringify(args)));
    assert.deepEqual(JSON.parse(text), args);
    assert.ok(!/[\u202e\u{e0041}]/u.test(text), text);
    assert.ok(text.includes("\\u202e"), text);
    assert.ok(text.includes("é"));
});

test("numbers are edited as they were written", () => {
    const text = '{"a":1.0,"b":1e400,"c":[9223372036854775809,-0],"d":{},"e":[]}';
    assert.equal(
        editText(parseExact(text)),
        '{\n  "a": 1.0,\n  "b": 1e400,\n  "c": [\n    9223372036854775809,\n    -0\n  ],\n  "d": {},\n  "e": []\n}',
    );
    // The control: what JavaScript makes of it.
    assert.equal(JSON.stringify(JSON.parse(text)), '{"a":1,"b":null,"c":[9223372036854776000,0],"d":{},"e":[]}');
    checkEdited(text);
});

test("a duplicate name is reported at any depth", () => {
    for (const text of ['{"a": 1, "a": 2}', '{"x": [{"a": 1, "b": 2, "\\u0061": 3}]}', '{"a": {"a": 1}, "\\u0061": 2}']) {
        assert.throws(() => checkEdited(text), /the name a is given twice/);
    }
    checkEdited('{"a": {"a": "a"}, "b": [{"a": 1}, {"a": 1}]}');
});

test("text that is no object of arguments is reported while it is typed", () => {
    assert.throws(() => checkEdited("{,}"), /not JSON/);
    for (const text of ["3", "null", "[]"]) assert.throws(() => checkEdited(text), /object/);
});
