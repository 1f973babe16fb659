// These functions are the pick of kernels: those that the sidecar found on this machine, and those elsewhere.

import * as vscode from "vscode";
import { runsLanguage } from "../cells/languages";
import type { Sidecar } from "../client/sidecar";
import type { KernelChoice, KernelInfo } from "../protocol/messages";
import { label } from "../text";
import type { KernelElsewhere, KernelsElsewhere } from "./elsewhere";
import { chooseOnServer } from "./server";

/** `kernel` undefined: whichever the Python extension or the sidecar prefers. */
export interface Choice {
    /** For the user. */
    readonly name: string;
    readonly kernel: KernelChoice | undefined;
}

type More<T extends Choice = Choice> = () => Promise<T | undefined>;
type Item<T extends Choice = Choice> = vscode.QuickPickItem & { chosen: T | More<T> };

export async function chooseKernel(sidecar: Sidecar, elsewhere: KernelsElsewhere, language: string): Promise<Choice | undefined> {
    const items = sidecar.request("kernel/list", {}).then(({ kernels }): Item[] => [
        {
            label: "$(sparkle) Automatic",
            description: "the interpreter of the Python extension, else the first below",
            chosen: { name: "the kernel that is found", kernel: undefined },
        },
        ...kernels.filter((kernel) => runsLanguage(kernel.language, language)).map(itemOf),
        { label: "$(folder-opened) Another interpreter…", chosen: chooseInterpreter },
        ...itemsElsewhere(sidecar, elsewhere, language),
    ]);
    return pick(items, "Kernel of sessions that start from now on");
}

function itemOf({ name, displayName, source, interpreter, problem }: KernelInfo): Item {
    return {
        label: `${problem ? "$(warning) " : ""}${label(displayName)}`,
        description: label(interpreter ?? name),
        detail: problem && label(problem, 500),
        chosen: { name: displayName, kernel: source === "interpreter" && interpreter ? { interpreter } : { name } },
    };
}

/** For a notebook, to which the editor itself offers those of this machine: `local` is called if the user wants one. */
export function chooseElsewhere(sidecar: Sidecar, elsewhere: KernelsElsewhere, local: () => void): Promise<KernelElsewhere | undefined> {
    const showLocal = () => {
        local();
        return Promise.resolve(undefined);
    };
    const here: Item<KernelElsewhere> = { label: "$(vm) A kernel of this machine…", chosen: showLocal };
    return pick([here, ...itemsElsewhere(sidecar, elsewhere)], "Kernel of this notebook");
}

/** `language`: those of others are left out. */
function itemsElsewhere(sidecar: Sidecar, elsewhere: KernelsElsewhere, language?: string): Item<KernelElsewhere>[] {
    const add = (choose: More<KernelElsewhere>): More<KernelElsewhere> => async () => {
        const chosen = await choose();
        if (chosen) await elsewhere.add(chosen);
        return chosen;
    };
    const runs = (spoken?: string) => spoken === undefined || language === undefined || runsLanguage(spoken, language);
    const kept = elsewhere.all().filter((each) => runs(each.language));
    const ofSettings = vscode.workspace.getConfiguration("cellgate").get<string>("jupyterServer", "");
    const offered = ofSettings || (kept.find(({ kernel }) => kernel.server)?.kernel.server?.url ?? "");
    return [
        ...kept.map((each): Item<KernelElsewhere> => ({
            label: `$(${each.kernel.server ? "remote" : "plug"}) ${label(each.name)}`,
            description: each.kernel.server ? label(each.kernel.server.url) : "without a sandbox; it is left running",
            chosen: add(() => Promise.resolve(each)),
        })),
        { label: "$(plug) A kernel that already runs…", description: "without a sandbox; it is left running", chosen: add(nameExisting) },
        {
            label: "$(remote) Jupyter server…",
            description: "a kernel on another machine, without a sandbox",
            chosen: add(() => chooseOnServer(sidecar, offered, runs)),
        },
    ];
}

async function pick<T extends Choice>(items: Item<T>[] | Thenable<Item<T>[]>, title: string): Promise<T | undefined> {
    const item = await vscode.window.showQuickPick(items, { title, matchOnDescription: true });
    return typeof item?.chosen === "function" ? item.chosen() : item?.chosen;
}

async function chooseInterpreter(): Promise<Choice | undefined> {
    const [file] = (await vscode.window.showOpenDialog({ title: "An interpreter of Python that has ipykernel" })) ?? [];
    return file && { name: file.fsPath, kernel: { interpreter: file.fsPath } };
}

async function nameExisting(): Promise<KernelElsewhere | undefined> {
    const typed = await vscode.window.showInputBox({
        title: "The connection file of a kernel that already runs",
        prompt: "A path, or a name in Jupyter's runtime directory, as %connect_info shows it. Empty: the newest kernel.",
        ignoreFocusOut: true,
    });
    if (typed === undefined) return undefined;
    const connectionFile = typed.trim();
    const name = connectionFile === "" ? "the newest kernel that runs" : `${connectionFile.replace(/^.*\//, "")}, which already runs`;
    return { name, kernel: { connectionFile } };
}
