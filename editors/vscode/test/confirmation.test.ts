import assert from "node:assert/strict";
import { test } from "node:test";
import { confirmationOf } from "../src/agent/confirmation";

test("the chat is shown the whole code, as text that is what it seems", () => {
    const code = "x = '\u202e'\n```\n[a](command:b)\n\tprint(x)";
    const { title, message } = confirmationOf("execute", "Run Code", { code });
    assert.equal(title, "Run this code in the agent's own kernel?");
    assert.equal(message, "````text\nx = '\\u{202e}'\n```\n[a](command:b)\n\tprint(x)\n````");
});

test("the other arguments of the call are shown, and another session is named", () => {
    const { title, message } = confirmationOf("execute", "Run Code", { code: "1", session: "default", timeout: 5 });
    assert.equal(title, "Run this code in the kernel of another session?");
    assert.match(message, /```text\n1\n```[^]*"timeout": 5,\n {2}"session": "default"/);
});

test("other tools show what they are given", () => {
    assert.equal(confirmationOf("reset", "Restart the Agent's Kernel", {}).message, "It is given nothing.");
    assert.match(confirmationOf("generate_wrappers", "Make Wrappers", { server: "a\nb" }).message, /"server": "a\\nb"/);
});
