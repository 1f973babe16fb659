// `chooseKernel` is the pick of kernels that the sidecar found.

import * as vscode from "vscode";
import type { Sidecar } from "../client/sidecar";
import type { KernelChoice } from "../protocol/messages";
import { label } from "../text";
import { chooseOnServer } from "./server";

type Item = vscode.QuickPickItem & { kernel?: KernelChoice; more?: () => Promise<KernelChoice | undefined> };

/** `kernel` undefined: whichever the Python extension or the sidecar prefers. */
export async function chooseKernel(sidecar: Sidecar): Promise<{ kernel: KernelChoice | undefined } | undefined> {
    const items = sidecar.request("kernel/list", {}).then(({ kernels }): Item[] => [
        { label: "$(sparkle) Automatic", description: "the interpreter of the Python extension, else the first below" },
        ...kernels.map(({ name, displayName, source, interpreter, problem }): Item => {
            const kernel = source === "interpreter" && interpreter ? { interpreter } : { name };
            return {
                label: `${problem ? "$(warning) " : ""}${label(displayName)}`,
                description: label(interpreter ?? name),
                detail: problem && label(problem, 500),
                kernel,
            };
        }),
        { label: "$(folder-opened) Another interpreter…", more: chooseInterpreter },
        { label: "$(plug) A kernel that already runs…", description: "without a sandbox; it is left running", more: nameExisting },
        { label: "$(remote) Jupyter server…", description: "a kernel on another machine, without a sandbox", more: () => chooseOnServer(sidecar) },
    ]);
    const chosen = await vscode.window.showQuickPick(items, {
        title: "Kernel of sessions that start from now on",
        matchOnDescription: true,
    });
    if (!chosen?.more) return chosen && { kernel: chosen.kernel };
    const kernel = await chosen.more();
    return kernel && { kernel };
}

async function chooseInterpreter(): Promise<KernelChoice | undefined> {
    const [file] = (await vscode.window.showOpenDialog({ title: "An interpreter of Python that has ipykernel" })) ?? [];
    return file && { interpreter: file.fsPath };
}

async function nameExisting(): Promise<KernelChoice | undefined> {
    const connectionFile = await vscode.window.showInputBox({
        title: "The connection file of a kernel that already runs",
        prompt: "A path, or a name in Jupyter's runtime directory, as %connect_info shows it. Empty: the newest kernel.",
    });
    return connectionFile === undefined ? undefined : { connectionFile: connectionFile.trim() };
}
