import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { findProgram } from "../src/client/program";

test("the program is looked for in four places, the user's own first", (t) => {
    const place = mkdtempSync(join(tmpdir(), "cellgate-program-"));
    t.after(() => rmSync(place, { recursive: true }));
    const program = (name: string, mode = 0o755) => {
        mkdirSync(dirname(join(place, name)), { recursive: true });
        writeFileSync(join(place, name), "");
        chmodSync(join(place, name), mode);
        return join(place, name);
    };
    const extension = join(place, "repository/editors/vscode");
    mkdirSync(extension, { recursive: true });
    const find = (setting = "") => findProgram(setting, extension, `relative:${join(place, "path")}:`);

    assert.throws(() => find(), /name it in the setting cellgate.program/);
    const built = program("repository/build/cellgate");
    assert.equal(find(), built);
    const onPath = program("path/cellgate");
    assert.equal(find(), onPath);
    program("repository/editors/vscode/bin/cellgate", 0o644);
    assert.equal(find(), onPath, "a file that cannot be run is none");
    const bundled = program("repository/editors/vscode/bin/cellgate");
    assert.equal(find(), bundled);
    const own = program("own/cellgate");
    assert.equal(find(own), own);
    for (const wrong of ["own/cellgate", join(place, "none"), join(place, "own")]) {
        assert.throws(() => find(wrong), /expected the absolute path of a program/);
    }
});
