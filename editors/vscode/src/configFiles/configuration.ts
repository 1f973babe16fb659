// `Configuration` is the files that set something for cellgate, and what they and the environment set, as
// `cellgate config show` tells it.

import { execFile } from "node:child_process";
import { basename } from "node:path";
import { promisify } from "node:util";

export interface ConfigFile {
    readonly path: string;
    /** What it sets, in words. */
    readonly what: string;
    readonly exists: boolean;
    /** Why it is not read. */
    readonly wrong?: string;
}

export interface ConfigValue {
    readonly name: string;
    readonly values: readonly string[];
    /** "environment", or a file with its line: /home/ada/.config/cellgate/config.toml:2 */
    readonly from: string;
    /** Why it is not used. */
    readonly wrong?: string;
}

export interface Configuration {
    readonly files: readonly ConfigFile[];
    readonly values: readonly ConfigValue[];
}

/** What `cellgate` prints with these arguments. */
export type RunProgram = (options: readonly string[]) => Promise<string>;

/** By the program itself, also where it fails for what is wrong in a file; an Error has what else it wrote. */
export function programRunner(program: string): RunProgram {
    return async (options) => {
        try {
            return (await promisify(execFile)(program, [...options], { timeout: 20_000 })).stdout;
        } catch (error) {
            const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string };
            if (stdout !== "") return stdout;
            throw stderr.trim() === "" ? error : new Error(stderr.trim().replace(/^cellgate: /, ""));
        }
    };
}

export async function readConfiguration(run: RunProgram): Promise<Configuration> {
    const { files, values } = JSON.parse(await run(["config", "show", "--json"])) as Partial<Configuration>;
    if (!Array.isArray(files) || !Array.isArray(values)) throw new Error("`cellgate config show` has told no files: it is older than this extension");
    return { files, values };
}

const skeletons: Readonly<Record<string, string>> = {
    "config.toml": "# Options of cellgate's subcommands, without their dashes: `cellgate help run` lists those of one.\n[run]\n",
    "profiles.json": '{\n  "profiles": {}\n}\n',
    "agents.json": '{\n  "agents": {}\n}\n',
    "record.json": "{}\n",
};

/** What a new file begins with; undefined: the sidecar writes it. */
export const skeletonOf = (path: string): string | undefined => skeletons[basename(path)];

/** The place that a value comes from, its line from 0. */
export function placeOf({ from }: ConfigValue): { path: string; line: number } | undefined {
    const [, path, line] = /^(\/.*):(\d+)$/s.exec(from) ?? [];
    return path === undefined ? undefined : { path, line: Number(line) - 1 };
}
