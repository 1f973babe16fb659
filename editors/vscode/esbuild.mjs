// Bundles the extension, its page and its renderer into dist/, or (--tests) each unit test into out/test/; --watch goes on.
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

// The page of the approvals view: it runs in a frame of the editor.
const page = {
    ...shared,
    entryPoints: ["src/approvals/page/main.ts"],
    outfile: "dist/approvals.js",
    platform: "browser",
    format: "iife",
};

// A test that needs the editor belongs to tests/e2e: here `vscode` is not to be had.
const tests = {
    ...shared,
    entryPoints: readdirSync("test")
        .filter((name) => name.endsWith(".test.ts"))
        .map((name) => `test/${name}`),
    outdir: "out/test",
};

const bundles = process.argv.includes("--tests") ? [tests] : [extension, page, renderer];
if (bundles.includes(tests)) rmSync("out", { recursive: true, force: true });
for (const bundle of bundles) {
    if (process.argv.includes("--watch")) await (await esbuild.context(bundle)).watch();
    else await esbuild.build(bundle);
}
