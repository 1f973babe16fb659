// Bundles the tool server `web` into the folder that is named: web.cjs, and the licenses of what is in it.
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import * as esbuild from "esbuild";

const folder = process.argv[2];
if (folder === undefined) throw new Error("expected a folder to write to");
mkdirSync(folder, { recursive: true });
const { metafile } = await esbuild.build({
    entryPoints: ["src/main.mjs"],
    outfile: path.join(folder, "web.cjs"),
    bundle: true,
    platform: "node",
    target: "node18",
    format: "cjs",
    minify: true,
    keepNames: true,
    metafile: true,
    logLevel: "warning",
    // It is given elements, so it needs no parser of its own.
    alias: { turndown: "turndown/lib/turndown.browser.es.js" },
});
writeFileSync(path.join(folder, "web-licenses.txt"), licensesOf(Object.keys(metafile.inputs)));

function licensesOf(files) {
    const folders = files.map((file) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1]).filter((each) => each);
    const texts = [...new Set(folders)].sort().map((each) => {
        const file = readdirSync(each).sort().find((name) => /^(licen[cs]e|copying)/i.test(name));
        const name = each.split("node_modules/").at(-1);
        const said = JSON.parse(readFileSync(path.join(each, "package.json"), "utf8")).license;
        return `${name} (${said})\n${file ? `\n${readFileSync(path.join(each, file), "utf8").trim()}\n` : ""}`;
    });
    return texts.join(`\n${"-".repeat(80)}\n\n`);
}
