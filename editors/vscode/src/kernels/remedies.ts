// `offerRemedy` shows a dialog for each way in which a kernel can fail to start, with what the user can do about it.

import * as vscode from "vscode";
import { hintOf, kindOf, messageOf, textOf } from "../client/errors";
import { ask, showError } from "../notices";
import { sandboxProblemOf } from "./sandboxProblem";

export type Remedy = "selectKernel" | "retry" | "weaker" | "unsandboxed";

export async function offerRemedy(error: unknown): Promise<Remedy | undefined> {
    switch (kindOf(error)) {
        case "kernelNotFound":
            return withoutKernelPackage(error);
        case "sandboxUnavailable":
            return withoutSandbox(error);
        case "kernelStartFailed":
            return withoutAnswer(error);
        default:
            showError(error);
            return undefined;
    }
}

const selectKernel = "Select Another Interpreter";

/** The sidecar knows how each kind of interpreter gets a package, and says so in its hint. */
export function installCommandOf(hint: string): string | undefined {
    return /(?:^I| i)nstall it with: (.+)$/.exec(hint)?.[1];
}

async function withoutKernelPackage(error: unknown): Promise<Remedy | undefined> {
    const command = installCommandOf(hintOf(error));
    // What the code of a kernel may have written is not run as if it were the user's own.
    const install = hintOf(error).startsWith("Install") ? "Install in a Terminal" : "Install Outside the Sandbox";
    const chosen = await ask(
        "cellgate: this interpreter cannot be a kernel yet",
        `${messageOf(error)}\n\n${hintOf(error)}`,
        selectKernel,
        ...(command ? [install] : []),
    );
    if (chosen === selectKernel) return "selectKernel";
    return chosen === install && command && (await runVisibly(command)) ? "retry" : undefined;
}

async function withoutSandbox(error: unknown): Promise<Remedy | undefined> {
    const copy = "Copy the Fix";
    const weaker = "Weaker Sandbox in This Session";
    const unsandboxed = "Run Unsandboxed in This Session";
    const { problem, fix, copied } = sandboxProblemOf(error);
    const chosen = await ask(
        "cellgate: no sandbox is available here",
        `${problem}\n\n${fix}\n\n` +
            "In the weaker sandbox, code has no network, and sees which files and processes there are.\n\n" +
            "Unsandboxed, it can do to your files and on the network all that you can, unasked.",
        copy,
        weaker,
        unsandboxed,
    );
    if (chosen === copy) await vscode.env.clipboard.writeText(copied);
    if (chosen === weaker) return "weaker";
    return chosen === unsandboxed ? "unsandboxed" : undefined;
}

async function withoutAnswer(error: unknown): Promise<Remedy | undefined> {
    const retry = "Try Again";
    const another = "Select Another Kernel";
    const chosen = await ask("cellgate: the kernel did not start", textOf(error), another, retry);
    if (chosen === another) return "selectKernel";
    return chosen === retry ? "retry" : undefined;
}

/** Where a user sees it work; true when it did. */
async function runVisibly(command: string): Promise<boolean> {
    const task = new vscode.Task(
        { type: "cellgate" },
        vscode.TaskScope.Workspace,
        "install ipykernel",
        "cellgate",
        new vscode.ShellExecution(command),
    );
    let execution: vscode.TaskExecution | undefined;
    const codes = new Map<vscode.TaskExecution, number | undefined>();
    let listening: vscode.Disposable | undefined;
    const ended = new Promise<boolean>((resolve) => {
        listening = vscode.Disposable.from(
            vscode.tasks.onDidEndTaskProcess((event) => codes.set(event.execution, event.exitCode)),
            // It comes behind the end of the process, and also where none could be started.
            vscode.tasks.onDidEndTask((event) => {
                if (event.execution === execution) resolve(codes.get(event.execution) === 0);
            }),
        );
    });
    try {
        execution = await vscode.tasks.executeTask(task);
        return await ended;
    } finally {
        listening?.dispose();
    }
}
