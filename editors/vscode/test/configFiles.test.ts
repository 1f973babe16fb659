// These tests read what `cellgate config show` says, also where a file is wrong.

import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { placeOf, programRunner, readConfiguration, skeletonOf } from "../src/configFiles/configuration";

const config = "/home/ada/.config/cellgate/config.toml";
const files = [
    { path: config, what: "options of the command line", exists: true },
    { path: "/home/ada/.config/cellgate/profiles.json", what: "profiles of sessions", exists: false },
];
const values = [{ name: "run.sandbox", values: ["gvisor"], from: `${config}:2` }];

test("files and values are those that the program tells", async () => {
    const asked: string[][] = [];
    const run = (options: readonly string[]) => (asked.push([...options]), Promise.resolve(JSON.stringify({ files, values })));
    assert.deepEqual(await readConfiguration(run), { files, values });
    assert.deepEqual(asked, [["config", "show", "--json"]]);
});

test("a program that cannot tell is an error", async () => {
    await assert.rejects(readConfiguration(() => Promise.resolve("{}")), /no files/);
    await assert.rejects(readConfiguration(() => Promise.reject(new Error("there is no such program"))), /no such program/);
});

test("the program is run as it is, and an error has what it wrote", async () => {
    const program = join(mkdtempSync(join(tmpdir(), "cellgate-")), "cellgate");
    writeFileSync(program, '#!/bin/sh\n[ "$1" = good ] && echo "$2" && exit "$3"\necho "cellgate: it is wrong" >&2\nexit 2\n');
    chmodSync(program, 0o755);
    const run = programRunner(program);
    for (const end of ["0", "1"]) assert.equal(await run(["good", "two words", end]), "two words\n");
    await assert.rejects(run(["bad"]), { message: "it is wrong" });
});

test("a value of a file is at its line, one of the environment nowhere", () => {
    assert.deepEqual(values.map(placeOf), [{ path: config, line: 1 }]);
    assert.equal(placeOf({ name: "SSL_CERT_FILE", values: [], from: "environment" }), undefined);
});

test("a new file begins with what is valid, and the sidecar writes that of the rules", () => {
    for (const name of ["profiles.json", "agents.json", "record.json"]) assert.doesNotThrow(() => void JSON.parse(skeletonOf(`/c/${name}`) ?? ""), name);
    assert.match(skeletonOf(config) ?? "", /\[run\]/);
    assert.equal(skeletonOf("/c/policy/user.json"), undefined);
});
