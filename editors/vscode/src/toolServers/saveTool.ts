// `saveTool` keeps a function of code that ran as a tool of the server `saved`, with the rules of what the code was
// allowed. The user sees all of it in the approval of the call.

import * as vscode from "vscode";
import { whileAsked } from "../approvals/whileAsked";
import type { Cellgate } from "../cellgate";
import { inform, showCancellableProgress, warn } from "../notices";
import type { Action } from "../protocol/messages";
import { placeOf } from "../sessionViews/cellOf";
import { label } from "../text";
import { functionsThatRan, type RanCode } from "./ranCode";

export async function saveTool(cellgate: Cellgate): Promise<void> {
    const { sidecar, waiting } = cellgate;
    const ran = await pickCode(await functionsThatRan(sidecar));
    const name = ran && (await pickFunction(ran.functions));
    if (!ran || name === undefined) return;
    const isIts = ({ server, tool }: Action) => server === "host" && tool === "save_tool";
    const denied = () => void inform(`cellgate: ${label(name)} was not saved.`);
    const params = { server: "host", tool: "save_tool", arguments: { name, code: ran.code, rulesOf: [ran.executionId] } };
    const result = await showCancellableProgress(`Saving ${label(name)} as a tool`, (report, token) =>
        whileAsked(waiting.approvals, { isIts, report, denied }, () => sidecar.request("tools/call", params, token)),
    );
    if (!result) return;
    const words = label(firstText(result.content), 1000);
    if (result.isError === true) {
        void warn(words);
    } else if ((await inform(words, "Generate Wrappers")) !== undefined) {
        await vscode.commands.executeCommand("cellgate.generateWrappers", { server: { name: "saved" } });
    }
}

async function pickCode(all: readonly RanCode[]): Promise<RanCode | undefined> {
    if (all.length === 0) {
        void inform("cellgate: no code that ran in this workspace without an error defines a function of Python.");
        return undefined;
    }
    if (all.length === 1) return all[0];
    const items = all.map((ran) => ({
        label: ran.functions.join(", "),
        description: label([ran.cell && placeOf(ran.cell), new Date(ran.time).toLocaleString()].filter(Boolean).join(" · ")),
        ran,
    }));
    return (await vscode.window.showQuickPick(items, { title: "Save a function of which code?", matchOnDescription: true }))?.ran;
}

async function pickFunction(functions: readonly string[]): Promise<string | undefined> {
    return functions.length === 1 ? functions[0] : vscode.window.showQuickPick([...functions].reverse(), { title: "Save which function?" });
}

function firstText(content: readonly unknown[]): string {
    const [first] = content as { text?: string }[];
    return first?.text ?? "";
}
