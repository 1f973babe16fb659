import assert from "node:assert/strict";
import { test } from "node:test";
import { CancellationTokenSource } from "vscode-jsonrpc/node";
import { PackageInstalls, namesOf, packagesIn } from "../src/packages/install";
import type { PackagesInstallParams, PackagesInstallResult } from "../src/protocol/messages";

const installed: PackagesInstallResult = { status: "ok", installed: [{ name: "pandas", version: "2.1" }], output: "", layers: ["bwrap"] };

/** With a sidecar that reports a line and then does what `answer` does. */
function fixture(answer: () => Promise<PackagesInstallResult>) {
    const asked: PackagesInstallParams[] = [];
    const shown: string[] = [];
    const cancel = new CancellationTokenSource();
    let tell: (params: object) => void = () => undefined;
    const sidecar = {
        onNotification: (_: string, handler: (params: never) => void) => {
            tell = handler as (params: object) => void;
            return { dispose: () => (tell = () => undefined) };
        },
        request: (method: string, params: PackagesInstallParams) => {
            assert.equal(method, "packages/install");
            asked.push(params);
            tell({ token: "another", value: { kind: "report", message: "not ours" } });
            tell({ token: params.workDoneToken, value: { kind: "report", message: "Collecting [pandas](x)" } });
            return answer();
        },
    };
    const installs = new PackageInstalls(sidecar as never, {
        progress: (title, work) => {
            shown.push(title);
            return work((message) => shown.push(message), cancel.token);
        },
        installed: (message) => shown.push(message),
        failed: (message, output) => shown.push(`${message} | ${output}`),
    });
    return { installs, asked, shown, cancel, tell: (params: object) => tell(params) };
}

test("what is installed is shown, with what the package manager said meanwhile", async () => {
    const { installs, asked, shown } = fixture(() => Promise.resolve(installed));
    assert.equal(await installs.install(["pandas"], "plan"), true);
    assert.deepEqual(shown, ["Installing pandas", "Collecting [pandas] (x)", "installed: pandas 2.1"]);
    const { workDoneToken, ...params } = asked[0] ?? { packages: [] };
    assert.deepEqual(params, { packages: ["pandas"], sessionId: "plan" });
    assert.equal(typeof workDoneToken, "string");
});

test("a failure is shown with the package manager's output", async () => {
    const failed: PackagesInstallResult = { status: "failed", installed: [], output: "all of it", reason: "pip ended", layers: [] };
    const { installs, shown } = fixture(() => Promise.resolve(failed));
    assert.equal(await installs.install(["pandas"]), false);
    assert.equal(shown.at(-1), "nothing was installed: pip ended | all of it");
});

test("what the user cancelled is no error, all else is", async () => {
    const cancelled = fixture(() => {
        cancelled.cancel.cancel();
        return Promise.reject(new Error("cancelled"));
    });
    assert.equal(await cancelled.installs.install(["pandas"]), false);
    const refused = fixture(() => Promise.reject(new Error("a user said no")));
    await assert.rejects(refused.installs.install(["pandas"]), /a user said no/);
});

test("names are taken as they were typed, and shown safely", () => {
    assert.deepEqual(packagesIn("  pandas>=2,<3   npm:lodash "), ["pandas>=2,<3", "npm:lodash"]);
    assert.deepEqual(packagesIn(" "), []);
    assert.deepEqual([["a"], ["a", "b"], ["a", "b", "c"]].map(namesOf), ["a", "a and b", "a and 2 more"]);
    assert.equal(namesOf(["a\u202e"]), "a\\u{202e}");
});
