import assert from "node:assert/strict";
import { test } from "node:test";
import { checkEdited } from "../src/approvals/edit";

test("text that is no object is reported while it is typed", () => {
    assert.throws(() => checkEdited("{,}"), /not JSON/);
    for (const text of ["3", "null", "[]"]) assert.throws(() => checkEdited(text), /object/);
    assert.throws(() => checkEdited('{"a": "\ud83d"}'), /not Unicode/);
    checkEdited('{"a": 1.0, "b": 1e400, "c": "\\ud83d\\ude00 \u{1f600}"}');
});
