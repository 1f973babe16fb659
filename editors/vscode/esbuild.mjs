// Bundles the extension, its page and its renderer into dist/, with the licenses of what is in them, or (--tests) each unit
// test into out/test/; --watch goes on.
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import * as esbuild from "esbuild";

const shared = {
    bundle: true,
    platform: "node",
    target: "node20",
    format: "cjs",
    sourcemap: true,
    metafile: true,
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

// A test that needs the editor belongs to tests/e2e: here there is no `vscode`.
const tests = {
    ...shared,
    entryPoints: readdirSync("test")
        .filter((name) => name.endsWith(".test.ts"))
        .map((name) => `test/${name}`),
    outdir: "out/test",
};

const bundles = process.argv.includes("--tests") ? [tests] : [extension, page, renderer];
if (bundles.includes(tests)) rmSync("out", { recursive: true, force: true });
const inputs = new Set();
for (const bundle of bundles) {
    if (process.argv.includes("--watch")) await (await esbuild.context(bundle)).watch();
    else Object.keys((await esbuild.build(bundle)).metafile.inputs).forEach((input) => inputs.add(input));
}
if (inputs.size > 0 && !bundles.includes(tests)) writeFileSync("dist/licenses.txt", licensesOf(inputs));

/** Of the packages that the files belong to. */
function licensesOf(files) {
    const folders = [...files].map((file) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1]).filter((folder) => folder);
    const texts = [...new Set(folders)].sort().map((folder) => {
        const file = readdirSync(folder).sort().find((name) => /^licen[cs]e/i.test(name));
        if (file === undefined) throw new Error(`${folder} has no file of its license`);
        return `${folder.split("node_modules/").at(-1)}\n\n${readFileSync(path.join(folder, file), "utf8").trim()}\n`;
    });
    return texts.join(`\n${"-".repeat(80)}\n\n`);
}
