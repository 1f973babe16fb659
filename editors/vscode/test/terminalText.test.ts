import assert from "node:assert/strict";
import { test } from "node:test";
import { TerminalText } from "../src/results/model/terminalText";

function shown(...pieces: string[]): string {
    const text = new TerminalText();
    for (const piece of pieces) text.write(piece);
    assert.equal(text.omittedBytes, undefined);
    return text.text;
}

test("lines stay as they are", () => {
    assert.equal(shown("a\nb", "c\n", "\td"), "a\nbc\n\td");
});

test("a progress bar is one line", () => {
    assert.equal(shown("0%", "\r10%", "\r100%\n", "done"), "100%\ndone");
    assert.equal(shown("abcdef\rxy"), "xycdef");
    assert.equal(shown("abcdef\r\u001b[Kxy"), "xy");
    assert.equal(shown("a\r\nb\r\n"), "a\nb\n");
    assert.equal(shown("ab\bc"), "ac");
});

test("several progress bars are as many lines", () => {
    const up = "\u001b[A";
    // As tqdm draws an inner bar below an outer one.
    const bars = [0, 1, 2].map((i) => `\router ${i}` + [50, 100].map((n) => `\n\rinner ${n}%${up}`).join(""));
    assert.equal(shown("before\n", ...bars, "\n\ndone\n"), "before\nouter 2\ninner 100%\ndone\n");
    assert.equal(shown("a\nb\nc\u001b[2A\rx\u001b[B\ry\u001b[1B\rz"), "x\ny\nz");
    // The column stays, where there is one.
    assert.equal(shown("abc\nde\u001b[AX"), "abX\nde");
    assert.equal(shown("a\n\u001b[31mbc\u001b[AX"), "aX\n\u001b[31mbc");
    // There is nothing above the first line, nor below the last.
    assert.equal(shown("a\u001b[99Ab\u001b[99Bc\u001b[1;2Ad"), "abcd");
});

test("lines to go up to are bounded in number and length", () => {
    const text = new TerminalText();
    for (let i = 0; i < 400; i++) text.write(`${"é".repeat(340)}\n`);
    for (let i = 0; i < 400; i++) text.write(`\u001b[A\r${"漢".repeat(20_000)}`);
    assert.ok(Buffer.byteLength(text.text) <= 256 * 1024, `${Buffer.byteLength(text.text)} bytes`);
    const far = new TerminalText();
    far.write("line\n".repeat(100) + "\u001b[100A\rxxxx");
    assert.equal(far.text.split("\n").indexOf("xxxx"), 70);
});

test("of escape sequences only colours are left", () => {
    assert.equal(shown("\u001b[31mred\u001b[0m"), "\u001b[31mred\u001b[0m");
    assert.equal(shown("a\u001b[2Jb\u001b]0;title\u0007c\u001b]8;;http://x\u001b\\d\u001b[6n\u0007"), "abcd");
});

test("a sequence that is cut in two is still one", () => {
    assert.equal(shown("a\u001b", "[31", "mb"), "a\u001b[31mb");
    assert.equal(shown("a\u001b]0;ti", "tle\u0007b"), "ab");
});

test("overwritten characters lose their colours", () => {
    assert.equal(shown("\u001b[31mab\u001b[0m\r\u001b[32mc"), "\u001b[0m\u001b[32mcb");
});

test("beginning and end are kept of what is too long, and the bytes between are counted", () => {
    const text = new TerminalText();
    const lines = Array.from({ length: 100_000 }, (_, i) => `line ${i}\n`);
    for (const line of lines) text.write(line);
    const [head = "", tail = ""] = text.text.split("…\n");
    const { omittedBytes = 0 } = text;
    assert.ok(head.startsWith("line 0\nline 1\n") && head.endsWith("\n"));
    assert.ok(tail.endsWith("line 99999\n") && tail.startsWith("line "));
    assert.ok(Buffer.byteLength(head + tail) <= 256 * 1024);
    assert.equal(Buffer.byteLength(head + tail) + omittedBytes, Buffer.byteLength(lines.join("")));
});

test("a line without an end is bounded, whatever it holds", () => {
    for (const piece of ["x".repeat(100_000), "\r" + "é".repeat(50_000) + "\u001b[31m", "\u001b[1m".repeat(20_000), "\u001b]0;" + "t".repeat(90_000)]) {
        const text = new TerminalText();
        for (let i = 0; i < 40; i++) text.write(piece);
        assert.ok(Buffer.byteLength(text.text) <= 256 * 1024, `${Buffer.byteLength(text.text)} bytes`);
    }
});

test("text that goes back all the time costs no more than other text", () => {
    const text = new TerminalText();
    for (let i = 0; i < 2000; i++) text.write("\rabc\b\b".repeat(100));
    assert.equal(text.text, "abc");
});

test("a gap is where the rest is left out, and the text goes on behind it", () => {
    const text = new TerminalText();
    text.write("before\nhalf a line");
    text.skip(1000);
    assert.equal(text.text, "before\n…\n");
    text.write("after\n");
    text.skip(500);
    text.write("the end\n");
    assert.equal(text.text, "before\n…\nthe end\n");
    assert.equal(text.omittedBytes, "half a line".length + 1000 + "after\n".length + 500);
});
