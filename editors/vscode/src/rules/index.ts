// `rules` registers everything about rules in the editor: the view of those in force and of past decisions, and the
// commands that add or revoke a rule, explain a decision, or cancel a call that goes on.

import * as vscode from "vscode";
import type { Cellgate } from "../cellgate";
import { ask, showError } from "../notices";
import { label } from "../text";
import { Explanations } from "./explanations";
import { ruleText } from "./labels";
import { RuleLoader } from "./loader";
import { addRule } from "./newRule";
import { RuleTree, type DecidedNode, type Node, type RuleNode } from "./tree";

export function rules({ sidecar, waiting, sessions, executions }: Cellgate): vscode.Disposable {
    const tree = new RuleTree();
    const view: vscode.TreeView<Node> = vscode.window.createTreeView("cellgate.rules", { treeDataProvider: tree });
    const loader = new RuleLoader(sidecar, tree);
    const explanations = new Explanations({ sidecar, sessions, tree, view, load: () => loader.load() });

    /** The sidecar does not notify of rules: every event that may change them reloads them, while they are shown. */
    function refresh(): void {
        if (view.visible) void loader.load();
    }

    async function revoke({ rule }: RuleNode): Promise<void> {
        if (rule.effect !== "allow") {
            // Removing an ask or deny rule permits more.
            const question = `Remove the rule “${rule.effect} ${label(ruleText(rule), 300)}”? What it held back may then be asked about or allowed.`;
            const remove = "Remove";
            if ((await ask(question, undefined, remove)) !== remove) return;
        }
        await sidecar.request("policy/remove", { ruleId: rule.id });
        await loader.load();
    }

    const commands: Record<string, (node: never) => Promise<void>> = {
        revokeRule: revoke,
        explainDecision: (node: DecidedNode) => explanations.explainDecision(node.decided),
        cancelCall: async ({ decided }: DecidedNode) => {
            await sidecar.request("action/cancel", { number: decided.number });
            await loader.load();
        },
        addRule: async (beginning: unknown) => {
            await addRule(sidecar, typeof beginning === "string" ? beginning : "");
            await loader.load();
        },
        explainCall: () => explanations.explainCall(),
        refreshRules: () => loader.load(),
    };
    return vscode.Disposable.from(
        tree,
        view,
        view.onDidChangeVisibility(refresh),
        sidecar.onDidConnect(refresh),
        waiting.approvals.onDidEnd(refresh),
        // The rules of a session or an execution end with it.
        sessions.onDidChange(refresh),
        executions.onDidChange(refresh),
        ...Object.entries(commands).map(([name, action]) =>
            vscode.commands.registerCommand(`cellgate.${name}`, (node: never) => action(node).catch(showError)),
        ),
    );
}
