import assert from "node:assert/strict";
import { test } from "node:test";
import { editText } from "../src/approvals/edit";
import { exactParam, decoder, verbatim, serialize } from "../src/client/wire";

const message = '{"jsonrpc":"2.0","method":"approval/requested","params":{"action":{"server":"s","arguments":{"n":1.0,"m":18446744073709551617}}}}';

test("what came can be looked up as it was written", async () => {
    const { params } = (await decoder.decode(Buffer.from(message), { charset: "utf-8" })) as unknown as { params: object };
    const found = exactParam(params, "action", "arguments");
    assert.equal(found && editText(found), '{\n  "n": 1.0,\n  "m": 18446744073709551617\n}');
    assert.equal(exactParam(params, "action", "nothing", "more"), undefined);
    // What did not come over the wire has no text.
    assert.equal(exactParam({ ...params }, "action"), undefined);
});

test("what is verbatim is sent as it stands, and nothing else changes", () => {
    const text = '{"n": 1.0, "big": 1e400, "s": "$& \\"$1"}';
    const others = { quoted: text, $: "$&", nested: [verbatim("{}"), null] };
    assert.equal(serialize({ ...others, arguments: verbatim(text) }), `${JSON.stringify({ ...others, nested: [{}, null] }).slice(0, -1)},"arguments":${text}}`);
});

test("words that look like a place for something verbatim are words", () => {
    const text = serialize({ a: verbatim("1"), b: "0", c: "verbatim0" });
    assert.equal(text, '{"a":1,"b":"0","c":"verbatim0"}');
});
