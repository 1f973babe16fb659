import assert from "node:assert/strict";
import { test } from "node:test";
import { ResponseError } from "vscode-jsonrpc/node";
import { textOf } from "../src/client/errors";

const error = (message: string, hint: string) => new ResponseError(1001, message, { kind: "sessionNotFound", hint });

test("message and hint are two sentences in one line", () => {
    assert.equal(textOf(error('there is no session "x"', "create it first")), 'there is no session "x". Create it first');
    assert.equal(textOf(error("It ended.", "`cellgate doctor` says why.")), "It ended. `cellgate doctor` says why.");
    assert.equal(textOf(error("no room", "")), "no room");
    assert.equal(textOf(new Error("no room")), "no room");
});

test("the hint has a line of its own after a message of several lines", () => {
    assert.equal(textOf(error("it died:\nSegmentation fault\n", "start it again")), "it died:\nSegmentation fault\nStart it again");
});

test("a hint does not send the user to the help of a command line", () => {
    assert.equal(textOf(error("expected a path", "see --allow in `cellgate run --help`")), "expected a path");
    assert.equal(textOf(error("no such kernel", "name another kernel: see `cellgate kernels`")), "no such kernel. Name another kernel");
});
