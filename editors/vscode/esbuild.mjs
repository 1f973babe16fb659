// Bundles the extension and its renderer, which runs in notebooks, into dist/, or (--tests) each unit test into out/test/; --watch bundles again on each change.
import { readdirSync, rmSync } from "node:fs";
import * as esbuild from "esbuild";

const shared = {
    bundle: true,
    platform: "node",
    target: "node20",
    format: "cjs",
    sourcemap: true,
    logLevel: "warning",
};

const extension = {
    ...shared,
    entryPoints: ["src/extension.ts"],
    outfile: "dist/extension.js",
    external: ["vscode"],
};

const renderer = {
    ...shared,
    platform: "browser",
    target: "es2022",
    format: "esm",
    entryPoints: ["renderer/index.ts"],
    outfile: "dist/renderer.js",
    loader: { ".css": "text" },
};

// A test that needs the editor belongs to tests/e2e: here `vscode` is not to be had.
const tests = {
    ...shared,
    entryPoints: readdirSync("test")
        .filter((name) => name.endsWith(".test.ts"))
        .map((name) => `test/${name}`),
    outdir: "out/test",
};

const all = process.argv.includes("--tests") ? [tests] : [extension, renderer];
if (all.includes(tests)) rmSync("out", { recursive: true, force: true });
for (const options of all) {
    if (process.argv.includes("--watch")) {
        await (await esbuild.context(options)).watch();
    } else {
        await esbuild.build(options);
    }
}
