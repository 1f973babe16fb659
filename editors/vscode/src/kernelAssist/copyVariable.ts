// `copyVariable` copies a variable of the active file's session to another one: the user picks the variable, or types its
// name where the kernel does not list any, the session, and the name there.

import * as vscode from "vscode";
import { active } from "../active";
import type { Cellgate } from "../cellgate";
import { inform } from "../notices";
import type { KernelVariable } from "../protocol/messages";
import { label } from "../text";
import { copiedText, nameProblem, targetsOf } from "./copyNames";
import { undefinedIfBusy } from "./idleKernel";

/** `from`: the session of a variable that is known already. */
export async function copyVariable(cellgate: Cellgate, from?: string, variable?: KernelVariable): Promise<void> {
    const source = from ?? active(cellgate)?.sessionId;
    const { sessions, sidecar } = cellgate;
    if (source === undefined || !sessions.get(source)) {
        await inform("No session runs for this file, so there is no variable to copy.");
        return;
    }
    const targets = targetsOf(sessions.all(), source);
    if (targets.length === 0) {
        await inform("There is no other session to copy a variable to.");
        return;
    }
    const name = variable?.name ?? (await pickVariable(cellgate, source));
    if (name === undefined) return;
    const target = await vscode.window.showQuickPick(targets, { title: `The session that gets ${label(name)}` });
    if (!target) return;
    const as = await typeName("Its name there", name);
    if (as === undefined) return;
    const copied = await sidecar.request("session/transfer", { from: source, to: target.sessionId, name, as });
    await inform(copiedText(as, target.sessionId, copied));
}

async function pickVariable({ sidecar }: Cellgate, sessionId: string): Promise<string | undefined> {
    const listed = await undefinedIfBusy(sidecar.request("kernel/variables", { sessionId }));
    const variables = listed?.variables.filter(({ name }) => nameProblem(name) === undefined) ?? [];
    if (variables.length === 0) return typeName("The variable to copy");
    const items = variables.map(({ name, type, value }) => ({ label: name, description: label(type, 60), detail: label(value) }));
    return (await vscode.window.showQuickPick(items, { title: "The variable to copy" }))?.label;
}

async function typeName(title: string, value?: string): Promise<string | undefined> {
    return vscode.window.showInputBox({ title, value, validateInput: nameProblem });
}
