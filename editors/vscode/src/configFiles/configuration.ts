// `Configuration` is the files that set something for cellgate, and what they and the environment set, as
// `cellgate config show` tells it.

import { execFile } from "node:child_process";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";

export interface ConfigFile {
    readonly path: string;
    /** What it sets, in words. */
    readonly what: string;
    readonly exists: boolean;
}

export interface ConfigValue {
    readonly name: string;
    readonly values: readonly string[];
    /** "environment", or a file with its line: /home/ada/.config/cellgate/config.toml:2 */
    readonly from: string;
}

export interface Configuration {
    readonly files: readonly ConfigFile[];
    readonly values: readonly ConfigValue[];
    /** Why config.toml, which is then not read, sets nothing. */
    readonly problem?: string;
}

/** What `cellgate` prints with these arguments. */
export type RunProgram = (options: readonly string[]) => Promise<string>;

/** By the program itself; an Error has what that wrote about its end. */
export function programRunner(program: string): RunProgram {
    return async (options) => {
        try {
            return (await promisify(execFile)(program, [...options], { timeout: 20_000 })).stdout;
        } catch (error) {
            const { stderr = "" } = error as { stderr?: string };
            throw stderr.trim() === "" ? error : new Error(stderr.trim().replace(/^cellgate: /, ""));
        }
    };
}

const show = ["config", "show", "--json"];

/** With a config.toml that is wrong cellgate runs nothing: the other files are listed all the same, and what is wrong. */
export async function readConfiguration(run: RunProgram): Promise<Configuration> {
    try {
        return parsed(await run(show));
    } catch (error) {
        const { files, values } = parsed(await run(["--config-file", "/dev/null", ...show]));
        const folder = dirname(files.find(({ path }) => basename(path) === "profiles.json")?.path ?? "");
        const [first, ...others] = files;
        if (!first) throw error;
        const broken = { ...first, path: join(folder, "config.toml"), exists: true };
        return { files: [broken, ...others], values, problem: error instanceof Error ? error.message : String(error) };
    }
}

function parsed(text: string): Configuration {
    const { files, values } = JSON.parse(text) as Partial<Configuration>;
    if (!Array.isArray(files) || !Array.isArray(values)) throw new Error("`cellgate config show` has told no files: it is older than this extension");
    return { files, values };
}

const skeletons: Readonly<Record<string, string>> = {
    "config.toml": "# Options of cellgate's subcommands, without their dashes: `cellgate help run` lists those of one.\n[run]\n",
    "profiles.json": '{\n  "profiles": {}\n}\n',
    "agents.json": '{\n  "agents": {}\n}\n',
    "record.json": "{}\n",
};

/** What a new file begins with; undefined: it is a folder. */
export const skeletonOf = (path: string): string | undefined => skeletons[basename(path)];

/** The place that a value comes from, its line from 0. */
export function placeOf({ from }: ConfigValue): { path: string; line: number } | undefined {
    const [, path, line] = /^(\/.*):(\d+)$/s.exec(from) ?? [];
    return path === undefined ? undefined : { path, line: Number(line) - 1 };
}
