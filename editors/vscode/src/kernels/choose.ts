// `chooseKernel` is the pick of kernels that the sidecar found.

import * as vscode from "vscode";
import type { Sidecar } from "../client/sidecar";
import type { KernelChoice } from "../protocol/messages";
import { label } from "../text";

type Item = vscode.QuickPickItem & { kernel?: KernelChoice; browse?: true };

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
        { label: "$(folder-opened) Another interpreter…", browse: true },
    ]);
    const chosen = await vscode.window.showQuickPick(items, {
        title: "Kernel of sessions that start from now on",
        matchOnDescription: true,
    });
    if (!chosen?.browse) return chosen && { kernel: chosen.kernel };
    const [file] = (await vscode.window.showOpenDialog({ title: "An interpreter of Python that has ipykernel" })) ?? [];
    return file && { kernel: { interpreter: file.fsPath } };
}
