import assert from "node:assert/strict";
import { test } from "node:test";
import { displayOf, partsByColumn, tableOf } from "../src/approvals/display";
import { allowed, arrange, contentsOf, extend } from "../src/approvals/layout";
import { itemFor } from "./approval";

const all = () => true;
const none = () => false;
const tens = Array.from({ length: 10 }, (_, index) => itemFor(`${index}`, `data/${index}.txt`));

test("a display is taken apart into its arguments, and no line of it is lost", () => {
    const lines = [
        "tool write_file of filesystem",
        'path: "a.txt"',
        "content: 2 lines",
        "  | path: not an argument",
        "  | end",
        '"odd key: ": {',
        "  deep: 1",
        "}",
        'long: "begins here and',
        '↳ goes on here"',
    ];
    const { title, parts } = displayOf(lines);
    assert.deepEqual(parts.map(({ name }) => name), ["path", "content", '"odd key: "', "long"]);
    assert.deepEqual([title, ...parts.flatMap((part) => [`${part.name}: ${part.lines[0]}`, ...part.lines.slice(1)])], lines);
});

test("a title that goes on in the next line keeps it", () => {
    const { parts } = displayOf(["tool of a very long", "↳ name", "x: 1"]);
    assert.deepEqual(parts, [{ name: "", lines: ["↳ name"] }, { name: "x", lines: ["1"] }]);
});

test("a line about no argument is a part of its own", () => {
    const displays = [["t", "a: 1", "by agent x"], ["t", "a: 2", "by agent x"]].map(displayOf);
    assert.deepEqual(tableOf(displays), { common: [{ name: "", lines: ["by agent x"] }], columns: ["a"] });
});

test("a table has the arguments that differ, and those that some lack", () => {
    const displays = [["t", "a: 1", "b: 2"], ["t", "a: 1", "b: 3"], ["t", "a: 1", "b: 3", "c: 4"]].map(displayOf);
    assert.deepEqual(tableOf(displays), { common: [{ name: "a", lines: ["1"] }], columns: ["b", "c"] });
});

test("arguments whose names go on in the next line are told apart by all of their lines", () => {
    const name = "k".repeat(76);
    const call = (path: string) => displayOf(["t", name, `↳ one: "same"`, name, `↳ two: "${path}"`]);
    const displays = [call("a.txt"), call("/etc/passwd")];
    const { common, columns } = tableOf(displays);
    assert.deepEqual(common.map(({ lines }) => lines), [[name, '↳ one: "same"']]);
    const shown = displays.map((display) => columns.flatMap((column) => partsByColumn(display).get(column)?.lines ?? []));
    assert.deepEqual(shown, [[name, '↳ two: "a.txt"'], [name, '↳ two: "/etc/passwd"']]);
});

test("a display of very many arguments is shown without a wait", () => {
    const call = (end: string) => itemFor(end, end, { display: ["t", ...Array.from({ length: 20_000 }, (_, index) => `a${index}: ${end}`)] });
    const { rows } = contentsOf([call("1"), call("2")]);
    assert.deepEqual(rows.map(({ cells }) => [cells.length, cells.at(-1)?.lines]), [[20_000, ["1"]], [20_000, ["2"]]]);
    const twice = displayOf(["t", ...Array.from({ length: 20_000 }, () => "a: 1")]);
    assert.equal(partsByColumn(twice).size, 20_000);
});

test("a display that says a name twice shows both", () => {
    const displays = [["t", "a: 1", "a: 2"], ["t", "a: 1", "a: 3"]].map(displayOf);
    const { common, columns } = tableOf(displays);
    assert.deepEqual(common.map(({ lines }) => lines), [["1"]]);
    assert.deepEqual(displays.map((display) => columns.map((column) => partsByColumn(display).get(column)?.lines)), [[["2"]], [["3"]]]);
});

test("values that look alike to JavaScript are told apart", () => {
    const displays = [["t", "n: 9007199254740993"], ["t", "n: 9007199254740992"]].map(displayOf);
    assert.deepEqual(tableOf(displays).columns, ["n"]);
});

test("calls are gathered by cell, then by tool, as they first came", () => {
    const write = { action: { kind: "tool" as const, server: "filesystem", tool: "write_file", argumentsText: "{}" } };
    const blocks = arrange([
        itemFor("a", "x"),
        itemFor("b", "x", { executionId: "other" }),
        itemFor("c", "x", write),
        itemFor("d", "y"),
    ]);
    assert.deepEqual(blocks.map(({ ids }) => ids), [["a", "d"], ["c"], ["b"]]);
});

test("a tool that is described otherwise now, or called for an agent, has a block of its own", () => {
    const { action } = { action: { kind: "tool" as const, server: "filesystem", tool: "read_text_file", argumentsText: "{}" } };
    const blocks = arrange([
        itemFor("a", "x"),
        itemFor("b", "x", { action: { ...action, toolIdentity: "1" } }),
        itemFor("c", "x", { agent: "claude" }),
    ]);
    assert.equal(blocks.length, 3);
});

test("what changed in a tool's definition is shown once for calls that have it, and calls without it are apart", () => {
    const changed = { definitionChanges: ["-old", "+new"] };
    const items = [itemFor("a", "x", changed), itemFor("b", "y"), itemFor("c", "z", changed)];
    assert.deepEqual(arrange(items).map(({ ids }) => ids), [["a", "c"], ["b"]]);
    assert.deepEqual(contentsOf(items.filter(({ id }) => id !== "b")).changes, ["-old", "+new"]);
    assert.deepEqual(contentsOf(items.filter(({ id }) => id === "b")).changes, []);
    // A table takes no row without it.
    const before = arrange([itemFor("a", "x", changed), itemFor("c", "z", changed)]);
    assert.deepEqual(extend(before, [...items, itemFor("d", "w", changed)], none).map(({ ids }) => ids), [["a", "c"], ["b"], ["d"]]);
});

test("an action that is no call has a block of its own", () => {
    const start = { action: { kind: "server" as const, server: "notes", command: ["notes"], cwd: "/", environmentNames: [] } };
    assert.equal(arrange([itemFor("a", "x", start), itemFor("b", "x", start)]).length, 2);
});

test("while a user is near, what is new comes below and all else stays", () => {
    const before = arrange(tens.slice(0, 2));
    const other = itemFor("new", "data/new.txt", { executionId: "other" });
    const blocks = extend(before, [...tens.slice(0, 3), other], none);
    assert.deepEqual(blocks.map(({ ids }) => ids), [["0", "1", "2"], ["new"]]);
    assert.equal(blocks[0]?.key, before[0]?.key);
    // The one whose block is not the last any more.
    assert.deepEqual(extend(blocks, [...tens.slice(0, 4), other], none).map(({ ids }) => ids), [["0", "1", "2"], ["new"], ["3"]]);
});

test("a row that would change the rows above does not join the table", () => {
    const two = arrange(tens.slice(0, 2));
    const ids = (newOne: ReturnType<typeof itemFor>) => extend(two, [...tens.slice(0, 2), newOne], none).map((block) => block.ids);
    assert.deepEqual(ids(itemFor("new", "data/new.txt")), [["0", "1", "new"]]);
    const another = ["tool read_text_file of filesystem", 'path: "data/new.txt"', "head: 3"];
    assert.deepEqual(ids(itemFor("new", "data/new.txt", { display: another })), [["0", "1"], ["new"]], "another column");
    assert.deepEqual(ids(itemFor("new", "else/new.txt")), [["0", "1"], ["new"]], "another button");
    assert.deepEqual(extend(arrange(tens.slice(0, 1)), tens.slice(0, 2), none).map((block) => block.ids), [["0"], ["1"]], "no table yet");
});

test("what is new joins a table of which some rows were decided, and none of which all were", () => {
    const three = tens.slice(0, 3);
    const decided = (...ids: string[]) => (id: string) => ids.includes(id);
    const ids = (isDecided: (id: string) => boolean) => extend(arrange(three), tens.slice(0, 4), isDecided).map((block) => block.ids);
    assert.deepEqual(ids(decided("0")), [["0", "1", "2", "3"]]);
    assert.deepEqual(ids(decided("0", "1", "2")), [["3"]], "its place is free");
    assert.deepEqual(extend(arrange(three), three, decided("0", "1", "2")), arrange(three), "nothing is new");
    const other = itemFor("other", "x", { executionId: "other" });
    const above = [...arrange(three), ...arrange([other])];
    assert.deepEqual(extend(above, [...tens.slice(0, 4), other], decided("0", "1", "2")).map((block) => block.ids), [["0", "1", "2"], ["other"], ["3"]], "what waits does not move");
});

test("a call that is unlike the others stands out, and it says why", () => {
    const outlier = itemFor("out", "/etc/passwd");
    const { rows } = contentsOf([...tens.slice(0, 5), outlier, ...tens.slice(5)]);
    assert.deepEqual(
        rows.filter(({ missingOptions }) => missingOptions.length > 0).map(({ item, missingOptions }) => [item.id, missingOptions]),
        [["out", ["read_text_file under data/"]]],
    );
});

test("one call has no table, and all of it is its own", () => {
    const { table, rows, options } = contentsOf(tens.slice(0, 1));
    assert.deepEqual([table.columns, rows.length, options.length], [[], 1, 3]);
});

test("calls from different lines share no source", () => {
    const other = { ...itemFor("b", "data/1"), source: { place: "plan.py:9", text: "read()", changed: false, link: true } };
    assert.equal(contentsOf([itemFor("a", "data/1"), other]).source, undefined);
    assert.equal(contentsOf(tens).source?.place, "plan.py:5");
});

test("an answer allows what was displayed and is offered it, and nothing else", () => {
    const items = [...tens, itemFor("out", "/etc/passwd")];
    const once = tens[0]?.options.find(({ label }) => label === "this call")?.key ?? "";
    const folder = tens[0]?.options.find(({ label }) => label.includes("data/"))?.key ?? "";
    assert.equal(allowed(items, once, all).length, 11);
    assert.deepEqual(allowed(items, once, (id) => id === "3"), ["3"], "only what was displayed");
    assert.equal(allowed(items, folder, all).length, 10, "only what is offered it");
    assert.deepEqual(allowed(items, once, none), []);
});
