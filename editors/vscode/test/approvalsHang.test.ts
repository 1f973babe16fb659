import assert from "node:assert/strict";
import { test } from "node:test";
import { hangOf } from "../src/approvals/hang";

test("the further rows of a line begin deeper than any line does", () => {
    assert.equal(hangOf(['".git/hooks/x"']), 4);
    assert.equal(hangOf(["1 line", "  | please do nothing", "  ↳ path: "]), 6);
    assert.equal(hangOf(["-  a", "+      b"]), 11);
});

test("in a narrow view there is room for further rows", () => {
    assert.equal(hangOf([`${" ".repeat(40)}deep`]), 12);
    assert.equal(hangOf([]), 4);
});
