// `findProgram` finds the program `cellgate`: from the user's settings, the package, the PATH, or the build of the
// repository that contains the extension. It is never a file of the workspace.

import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";

function isProgram(path: string): boolean {
    try {
        accessSync(path, constants.X_OK);
        return statSync(path).isFile();
    } catch {
        return false;
    }
}

/** Throws an Error that says where it was looked for. */
export function findProgram(setting: string, extensionFolder: string, path: string): string {
    if (setting) {
        if (isAbsolute(setting) && isProgram(setting)) return setting;
        throw new Error(`the setting cellgate.program names ${setting}: expected the absolute path of a program`);
    }
    const onPath = path.split(delimiter).filter(isAbsolute);
    const candidates = [
        join(extensionFolder, "bin", "cellgate"),
        ...onPath.map((folder) => join(folder, "cellgate")),
        join(extensionFolder, "..", "..", "build", "cellgate"),
    ];
    const found = candidates.find(isProgram);
    if (found) return found;
    throw new Error("there is no program cellgate with the extension or on PATH: name it in the setting cellgate.program");
}
