import assert from "node:assert/strict";
import { test } from "node:test";
import { ResponseError } from "vscode-jsonrpc/node";
import { sandboxProblemOf } from "../src/kernels/sandboxProblem";

const problemOf = (message: string, fix: string) =>
    sandboxProblemOf(
        new ResponseError(-32000, message, {
            kind: "sandboxUnavailable",
            hint: `${fix} Yours alone to choose: the weaker sandbox (\`--sandbox landlock\`), or none (\`--no-sandbox\`).`,
        }),
    );

test("why there is no sandbox is short, and one command of the fix is copied alone", () => {
    const refusal = "this machine allows user namespaces to root only (kernel.unprivileged_userns_clone is 0): tried `/usr/bin/bwrap` with user, mount, network, pid, ipc and uts namespaces; it said: no";
    const fix = "Allow them: `sudo sysctl -w kernel.unprivileged_userns_clone=1`, and the same line without `-w` in /etc/sysctl.d/ to keep it.";
    const said = problemOf(refusal, fix);
    assert.match(said.problem, /^this machine allows .* is 0\): tried \/usr\/bin\/bwrap with user, .*…$/);
    assert.ok(said.problem.length <= 161);
    assert.equal(said.fix, fix.replaceAll("`", ""));
    assert.equal(said.copied, "sudo sysctl -w kernel.unprivileged_userns_clone=1");
});

test("of several commands all are copied, and without any the fix", () => {
    const fix = "Install it: `apt install bubblewrap` (Debian, Ubuntu), `pacman -S bubblewrap` (Arch).";
    assert.equal(problemOf("the sandbox needs bubblewrap", fix).copied, fix);
    assert.deepEqual(problemOf("too old", "Install bubblewrap 0.8.0 or newer."), {
        problem: "too old",
        fix: "Install bubblewrap 0.8.0 or newer.",
        copied: "Install bubblewrap 0.8.0 or newer.",
    });
    assert.equal(sandboxProblemOf(new Error("no")).copied, "");
});
