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

test("why there is no sandbox is short, with what bubblewrap said, and one command of the fix is copied alone", () => {
    const cause = "this machine allows user namespaces to root only (kernel.unprivileged_userns_clone is 0)";
    const refusal = (said: string) => `${cause}: tried \`/usr/bin/bwrap\` with user, mount, network, pid, ipc and uts namespaces; it said: ${said}`;
    const fix = "Allow them: `sudo sysctl -w kernel.unprivileged_userns_clone=1`, and the same setting in /etc/sysctl.d/ to keep it.";
    assert.deepEqual(problemOf(refusal("bwrap: No permissions to create new namespace"), fix), {
        problem: `${cause}: bwrap: No permissions to create new namespace`,
        fix,
        copied: "sudo sysctl -w kernel.unprivileged_userns_clone=1",
    });
    assert.equal(problemOf(refusal("nothing"), fix).problem, cause);
    const long = problemOf(refusal("bwrap: No permissions ".repeat(9)), fix).problem;
    assert.match(long, /: bwrap: No permissions bwrap: .*…$/);
    assert.ok(long.length <= 161);
});

test("of several commands all are copied, and without one that mends it the fix", () => {
    for (const fix of [
        "Install it: `apt install bubblewrap` (Debian, Ubuntu), `pacman -S bubblewrap` (Arch).",
        "Put `profile bwrap {}` into /etc/apparmor.d/bwrap and run `sudo apparmor_parser -r /etc/apparmor.d/bwrap`.",
        "Allow it user namespaces. Else check `bwrap --unshare-all --ro-bind / / true`.",
        "See `cellgate doctor`, or leave out limits.memoryBytes.",
        "Install bubblewrap 0.8.0 or newer.",
    ]) {
        assert.deepEqual(problemOf("the sandbox needs bubblewrap", fix), { problem: "the sandbox needs bubblewrap", fix, copied: fix });
    }
    assert.equal(sandboxProblemOf(new Error("no")).copied, "");
});
