import assert from "node:assert/strict";
import { test } from "node:test";
import { outlineOf } from "../src/approvals/outline";

const lines = (schema: unknown) =>
    outlineOf(schema).map(({ depth, name, words, description }) => `${"  ".repeat(depth)}${name}: ${words}${description && ` (${description})`}`);

test("the outline has every name, however it is nested, with what its value may be", () => {
    const schema = {
        properties: {
            path: { type: "string", description: "where", minLength: 1, pattern: "^/" },
            mode: { type: "string", enum: ["a", "b"], default: "a" },
            both: { type: ["string", "null"] },
            lines: { type: "array", minItems: 1, items: { type: "object", properties: { n: { type: "integer", minimum: 1, maximum: 9 } }, required: ["n"] } },
            anything: {},
        },
        required: ["path"],
        additionalProperties: false,
    };
    assert.deepEqual(lines(schema), [
        "path: string, characters at least 1, matches ^/, required (where)",
        'mode: string, one of "a" "b", default "a"',
        "both: string or null",
        "lines: array, items at least 1",
        "  each: object",
        "    n: integer, at least 1, at most 9, required",
        "anything: any",
        ": no other names",
    ]);
});

test("references and alternatives are followed", () => {
    const schema = {
        $defs: { "a/b": { type: "object", properties: { x: { const: 1 } } } },
        properties: {
            deep: { $ref: "#/$defs/a~1b", description: "beside" },
            either: { anyOf: [{ type: "null" }, { type: "array", items: { $ref: "#/$defs/a~1b" } }] },
            gone: { $ref: "https://example.org/schema" },
        },
        oneOf: [{ properties: { one: { type: "string" } } }],
    };
    assert.deepEqual(lines(schema), [
        "deep: object (beside)",
        "  x: always 1",
        "either: any",
        "  or: null",
        "  or: array",
        "    each: object",
        "      x: always 1",
        "gone: https://example.org/schema",
        "  one: string",
    ]);
});

test("the outline of a recursive, wide or deep schema is bounded", () => {
    const tree = { $defs: { node: { type: "object", properties: { left: { $ref: "#/$defs/node" }, right: { $ref: "#/$defs/node" } } } }, $ref: "#/$defs/node" };
    assert.ok(outlineOf(tree).length <= 201);
    assert.ok(outlineOf(tree).some(({ name }) => name === "…"), "it says that there is more");
    assert.deepEqual(outlineOf({ $ref: "#" }), []);
    const many = { properties: Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`n${index}`, { $ref: "#" }])) };
    assert.equal(outlineOf(many).at(-1)?.words, "and more");
    const circle = { allOf: [{ $ref: "#" }, { $ref: "#" }], anyOf: [{ $ref: "#" }, { $ref: "#" }] };
    assert.deepEqual(outlineOf(circle), []);
});

test("what a server wrote is shown as text, in full length or with a mark", () => {
    const [line] = outlineOf({ properties: { "a\u202e": { type: "x\u0007", description: "d".repeat(1000), enum: ["\u202e"] } } });
    assert.equal(line?.name, "a\\u{202e}");
    assert.equal(line.words, 'x\\u{7}, one of "\\u{202e}"');
    assert.equal(line.description.length, 301);
    for (const nonsense of [undefined, 3, [], { properties: 1, required: "path" }, { properties: { x: null } }]) outlineOf(nonsense);
});
