import assert from "node:assert/strict";
import { test } from "node:test";
import { brief, escapeUnprintable, firstLine, label, plain } from "../src/text";

test("unprintable characters are escaped", () => {
    assert.equal(escapeUnprintable("a\u202eb\u200bc\x1b[31m\n"), "a\\u{202e}b\\u{200b}c\\u{1b}[31m\\u{a}");
    assert.equal(escapeUnprintable("naïve – 日本語 🙂"), "naïve – 日本語 🙂");
    assert.equal(escapeUnprintable("\u{e0041}"), "\\u{e0041}");
});

test("a label has no icons and no links, and shows that it was cut", () => {
    assert.equal(label("$(check) [yes](command:x)"), "$ (check) [yes] (command:x)");
    assert.equal(label("abcdef", 3), "abc…");
});

test("no message makes a link of what is in it, wherever its parts come from", () => {
    // As the editor finds them.
    const links = /\[([^\]]+)\]\(((?:https?:\/\/|command:|file:)[^)\s]+)(?: (["'])(.+?)(\3))?\)/gi;
    for (const text of ["[yes](command:x)", "a [yes](file:///etc/passwd) b", "[y\ne](https://a)", "[[x]](command:y)", "[x]\u200b(command:y)"]) {
        assert.doesNotMatch(plain(text), links);
        assert.doesNotMatch(plain(text).replace(/\n/g, " "), links);
    }
    assert.doesNotMatch(plain(["[… 12 bytes cut …]", "(command:x)"].join("")), links);
    assert.equal(plain("two\nlines $(x)\r"), "two\nlines $ (x)\\u{d}");
});

test("of several lines one is taken that is no half of a sentence", () => {
    assert.equal(firstLine("the kernel died: signal 9"), "the kernel died: signal 9");
    assert.equal(firstLine("one\ntwo"), "one");
    const died = "the kernel died: exit code 3; its last words on stderr:";
    assert.equal(firstLine(`${died}\nTraceback\n  MemoryError\n\n`), `${died} MemoryError`);
    assert.equal(firstLine(`${died}\n \n`), "the kernel died: exit code 3");
});

test("what is brief is cut between words, unless that leaves little", () => {
    assert.equal(brief("3 of 5 pages", 12), "3 of 5 pages");
    assert.equal(brief("3 of 5 pages", 11), "3 of 5…");
    assert.equal(brief("3 of 5 pages", 6), "3 of 5…");
    assert.equal(brief("a reallylongword", 8), "a really…");
    assert.equal(brief("$(x) goes on", 9), "$ (x) goes…");
});
