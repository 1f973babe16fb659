// `addRule` adds a rule that the user types, or whose `beginning` is there and who goes on, after it has said what the rule covers, and would have covered lately.

import * as vscode from "vscode";
import { textOf } from "../client/errors";
import type { Sidecar } from "../client/sidecar";
import { ask } from "../notices";
import type { PolicyParseResult } from "../protocol/messages";
import { label } from "../text";
import { previewText } from "./labels";

const scopes = [
    { label: "This workspace", scope: "workspace" },
    { label: "All workspaces", scope: "always" },
] as const;

export async function addRule(sidecar: Pick<Sidecar, "request">, beginning: string): Promise<void> {
    let parsed: PolicyParseResult | undefined;
    const text = await vscode.window.showInputBox({
        title: "Add Rule: allow, ask, deny, inspect or review, and what",
        value: beginning,
        valueSelection: [beginning.length, beginning.length],
        placeHolder: "deny filesystem/move_file",
        prompt: "SERVER/TOOL ARGUMENT=VALUE, where VALUE is also under:FOLDER, glob:PATTERN, in:[…] or less:NUMBER; network HOST; request HOST METHODS PATH; install; output",
        validateInput: async (value) => {
            parsed = undefined;
            if (value === "" || value === beginning) return undefined;
            try {
                parsed = await sidecar.request("policy/parse", { text: value });
                return { message: label(parsed.words, 300), severity: vscode.InputBoxValidationSeverity.Info };
            } catch (error) {
                return label(textOf(error), 300);
            }
        },
    });
    if (!text) return;
    const { rule, words } = parsed ?? (await sidecar.request("policy/parse", { text }));
    const chosen = await vscode.window.showQuickPick(scopes, { title: "Where does it hold?" });
    if (!chosen) return;
    const preview = await sidecar.request("policy/preview", { rule });
    const add = "Add Rule";
    if ((await ask(`${label(words, 300)}, ${chosen.label.toLowerCase()}`, previewText(rule, preview), add)) !== add) return;
    await sidecar.request("policy/add", { rule, scope: chosen.scope });
}
