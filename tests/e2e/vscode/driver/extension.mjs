// Small extensions that play a part beside cellgate: those of tests/e2e/vscode/extensions, as packages to install.
import { execFileSync } from "node:child_process";
import path from "node:path";
import { VSIX } from "./server.mjs";

const FOLDER = path.resolve(import.meta.dirname, "../extensions");
const VSCE = path.resolve(import.meta.dirname, "../../../../editors/vscode/node_modules/.bin/vsce");

/** Options for a scenario in which this extension is there, too. @param {string} name */
export function beside(name) {
    const file = (place) => path.join(place.root, `${name}.vsix`);
    return {
        prepare: async (place) => {
            const parameters = ["package", "--no-dependencies", "--skip-license", "--allow-missing-repository"];
            execFileSync(VSCE, [...parameters, "--out", file(place)], { cwd: path.join(FOLDER, name), stdio: "pipe" });
        },
        extensions: (place) => [VSIX, file(place)],
    };
}
