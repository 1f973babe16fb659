import assert from "node:assert/strict";
import { test } from "node:test";
import type { SessionStats } from "../src/protocol/messages";
import { bytesText, Figures } from "../src/sessionViews/figures";
import { limitNames, limitText, parseLimit } from "../src/sessionViews/limitNames";

const uses = (processorSeconds: number, megabytes: number, sessionId = "s"): SessionStats => ({
    sessionId,
    status: "busy",
    queueLength: 0,
    processes: 2,
    processorSeconds,
    memoryBytes: megabytes * 2 ** 20,
});

test("what a session uses is plotted: processors between two samples, memory at each", () => {
    const figures = new Figures();
    assert.equal(figures.text(), undefined);
    figures.add({ sessions: [uses(10, 32)] }, 100);
    assert.equal(figures.text(), "0 %  32 MiB █");
    figures.add({ sessions: [uses(11, 64)] }, 102);
    assert.equal(figures.text(), "50 % ▅ 64 MiB ▅█");
    figures.add({ sessions: [uses(15, 64), uses(1, 16, "t")] }, 104);
});

test("each of several sessions has a line, which the editor does not break", () => {
    const figures = new Figures();
    figures.add({ sessions: [uses(11, 64, "plan.py-4e92")] }, 102);
    figures.add({ sessions: [uses(15, 64, "plan.py-4e92"), uses(1, 16, "t")] }, 104);
    const lines = figures.text()?.split(" ");
    assert.deepEqual(lines?.map((line) => line.replaceAll("\u00a0", " ").replaceAll("\u2060", "")), ["plan.py-4e92: 200 %, 64 MiB;", "t: 0 %, 16 MiB"]);
    assert.ok(lines.every((line) => !/-(?!\u2060)/.test(line)));
});

test("what the kernel uses that is kept ready is said", () => {
    const figures = new Figures();
    figures.add({ sessions: [uses(10, 32)], spareKernel: { processes: 1, processorSeconds: 1, memoryBytes: 16 * 2 ** 20 } }, 1);
    assert.equal(figures.text(), "0 %  32 MiB █; a\u00a0kernel\u00a0kept\u00a0ready:\u00a016\u00a0MiB");
    figures.add({ sessions: [uses(10, 32)] }, 2);
    assert.doesNotMatch(figures.text() ?? "", /kept/);
});

test("another kernel starts again from nothing, one that does not run has no figures", () => {
    const figures = new Figures();
    figures.add({ sessions: [uses(10, 32)] }, 1);
    figures.add({ sessions: [uses(12, 32)] }, 2);
    figures.add({ sessions: [uses(1, 16)] }, 3);
    assert.equal(figures.text(), "0 %  16 MiB █");
    figures.add({ sessions: [{ sessionId: "s", status: "dead", queueLength: 0 }] }, 4);
    assert.equal(figures.text(), undefined);
    figures.add({ sessions: [uses(1, 16)] }, 5);
    figures.add({ sessions: [] }, 6);
    assert.equal(figures.text(), undefined);
});

test("only the latest samples are plotted", () => {
    const figures = new Figures();
    for (let i = 0; i < 100; ++i) figures.add({ sessions: [uses(i, 32)] }, i);
    assert.equal(figures.text(), "100 % ████████ 32 MiB ████████");
});

const limit = (name: string) => limitNames.find((each) => each.name === name) ?? assert.fail(name);

test("a limit is typed with the unit that it has", () => {
    const memory = limit("memoryBytes");
    assert.deepEqual(["4G", "512 MiB", "1.5g", "1024", "4 bananas", "", "-1", "0"].map((text) => parseLimit(memory, text)), [
        4 * 2 ** 30, 2 ** 29, 1.5 * 2 ** 30, 1024, undefined, undefined, undefined, undefined,
    ]);
    assert.equal(parseLimit(limit("wallSeconds"), "1.5"), 1.5);
    assert.equal(parseLimit(limit("wallSeconds"), "1m"), undefined);
    assert.equal(parseLimit(limit("processCount"), "1.5"), undefined);
    assert.equal(limitText(memory, { memoryBytes: 3 * 2 ** 29 }), "1.5 GiB");
    assert.equal(limitText(limit("wallSeconds"), { wallSeconds: 60 }), "60 s");
    assert.equal(limitText(memory, undefined), "default");
    assert.equal(bytesText(100), "100 B");
});
