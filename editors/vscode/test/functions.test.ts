import assert from "node:assert/strict";
import { test } from "node:test";
import { functionsOf } from "../src/toolServers/functions";

test("the functions at the top level of code are named in order", () => {
    const code = "import os\ndef first(a):\n    def inner(): pass\nasync  def second():\n    pass\nclass A:\n    def method(self): pass\ndef _own(): pass\n";
    assert.deepEqual(functionsOf(code), ["first", "second"]);
    assert.deepEqual(functionsOf("x = 1"), []);
});
