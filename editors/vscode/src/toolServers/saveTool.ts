// `saveTool` keeps a function of code that ran as a tool of the server `saved`, with the rules of what the code was
// allowed. The user sees all of it in the approval of the call.

import * as vscode from "vscode";
import type { Cellgate } from "../cellgate";
import { textOf } from "../client/errors";
import type { Execution } from "../executions";
import { inform, showCancellableProgress, warn } from "../notices";
import { placeOf } from "../sessionViews/cellOf";
import { label } from "../text";
import { functionsOf } from "./functions";

interface Candidate {
    readonly execution: Execution;
    readonly code: string;
    readonly functions: readonly string[];
}

export async function saveTool(cellgate: Cellgate): Promise<void> {
    const candidate = await pickCandidate(cellgate);
    const name = candidate && (await pickFunction(candidate.functions));
    if (!candidate || name === undefined) return;
    const result = await showCancellableProgress(`Saving ${label(name)} as a tool`, (_report, token) =>
        cellgate.sidecar.request(
            "tools/call",
            { server: "host", tool: "save_tool", arguments: { name, code: candidate.code, rulesOf: candidate.execution.id } },
            token,
        ),
    );
    const words = label(firstText(result.content), 1000);
    if (result.isError === true) {
        void warn(words);
    } else if ((await inform(words, "Generate Wrappers")) !== undefined) {
        await vscode.commands.executeCommand("cellgate.generateWrappers", { server: { name: "saved" } });
    }
}

/** Of what has run without an error, the newest first. */
async function pickCandidate(cellgate: Cellgate): Promise<Candidate | undefined> {
    const { executions } = cellgate;
    const candidates: Candidate[] = [];
    for (const execution of executions.all().filter(({ result }) => result?.status === "ok").reverse()) {
        const code = await executions.codeOf(execution).catch((error: unknown) => {
            cellgate.log.warn(`the code of ${execution.id}: ${textOf(error)}`);
            return undefined;
        });
        const functions = functionsOf(code ?? "");
        if (code !== undefined && functions.length > 0) candidates.push({ execution, code, functions });
    }
    if (candidates.length === 0) {
        void inform("cellgate: no code that ran in this window defines a function of Python.");
        return undefined;
    }
    if (candidates.length === 1) return candidates[0];
    const items = candidates.map((candidate) => ({
        label: candidate.functions.join(", "),
        description: candidate.execution.cell && placeOf(candidate.execution.cell),
        candidate,
    }));
    return (await vscode.window.showQuickPick(items, { title: "Save a function of which code?", matchOnDescription: true }))?.candidate;
}

async function pickFunction(functions: readonly string[]): Promise<string | undefined> {
    return functions.length === 1 ? functions[0] : vscode.window.showQuickPick([...functions].reverse(), { title: "Save which function?" });
}

function firstText(content: readonly unknown[]): string {
    const [first] = content as { text?: string }[];
    return first?.text ?? "";
}
