import assert from "node:assert/strict";
import { test } from "node:test";
import { pieces } from "../renderer/ansi";

const yellow = "var(--vscode-terminal-ansiYellow)";
const onYellow = `lab(from ${yellow} clamp(0, (49 - l) * 1000, 100) 0 0)`;

test("on a background of the theme, text without a colour or with a fixed one can be read", () => {
    // As IPython marks the code that failed.
    const marked = pieces("\u001b[0;32m----> 1\u001b[0m \u001b[43mrun\u001b[49m\u001b[38;5;241;43m(\u001b[39;49m) \u001b[48;2;0;0;90mdark\u001b[0m");
    assert.deepEqual(marked, [
        { text: "----> 1", style: { color: "var(--vscode-terminal-ansiGreen)" } },
        { text: " ", style: {} },
        { text: "run", style: { backgroundColor: yellow, color: onYellow } },
        { text: "(", style: { backgroundColor: yellow, color: onYellow } },
        { text: ") ", style: {} },
        { text: "dark", style: { backgroundColor: "rgb(0, 0, 90)", color: "lab(from rgb(0, 0, 90) clamp(0, (49 - l) * 1000, 100) 0 0)" } },
    ]);
});

test("two colours that belong together stay as the program chose them", () => {
    const [themed, fixed] = pieces("\u001b[37;41mx\u001b[0m\u001b[38;5;226;48;5;18my");
    assert.deepEqual(themed?.style, { color: "var(--vscode-terminal-ansiWhite)", backgroundColor: "var(--vscode-terminal-ansiRed)" });
    assert.deepEqual(fixed?.style, { color: "rgb(255, 255, 0)", backgroundColor: "rgb(0, 0, 135)" });
});

test("a fixed colour on the editor's background comes nearer to that of its text", () => {
    const [blue] = pieces("\u001b[38;5;21mname");
    assert.deepEqual(blue?.style, { color: "color-mix(in srgb, rgb(0, 0, 255), var(--vscode-editor-foreground))" });
});

test("other escape sequences and control characters are dropped", () => {
    assert.deepEqual(pieces("a\u001b]0;title\u0007b\u0008\u001b[2Kc").map(({ text }) => text), ["a", "b", "c"]);
});
