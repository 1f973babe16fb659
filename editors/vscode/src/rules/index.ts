// Rules in the editor: a view of those in force, revoking them, and why a call is allowed, asked about or denied.

import * as vscode from "vscode";
import type { Cellgate } from "../cellgate";
import { textOf } from "../client/errors";
import { ask, inform, tell } from "../notices";
import type { Action, PolicyExplainParams } from "../protocol/messages";
import { label } from "../text";
import { RuleTree, type DecidedNode, type Node, type RuleNode } from "./tree";
import { actionText, explanationText, ruleText } from "./words";

export function rules({ log, sidecar, pending, sessions, executions }: Cellgate): vscode.Disposable {
    const tree = new RuleTree(pending);
    const view: vscode.TreeView<Node> = vscode.window.createTreeView("cellgate.rules", { treeDataProvider: tree });

    async function load(): Promise<void> {
        tree.show((await sidecar.request("policy/list", {})).rules);
    }

    /** cellgate tells nobody of its rules: what may have changed them asks for them. */
    function refresh(): void {
        if (view.visible) load().catch((error: unknown) => log.debug(`no list of rules: ${textOf(error)}`));
    }

    async function revoke(node: RuleNode): Promise<void> {
        const { rule } = node;
        if (rule.effect !== "allow") {
            // Without it more may happen than with it.
            const question = `Remove the rule “${rule.effect} ${label(ruleText(rule), 300)}”? What it held back may then be asked about or allowed.`;
            const remove = "Remove";
            if ((await ask(question, undefined, remove)) !== remove) return;
        }
        await sidecar.request("policy/remove", { ruleId: rule.id });
        await load();
    }

    async function explain(params: PolicyExplainParams): Promise<void> {
        const result = await sidecar.request("policy/explain", params);
        const show = "Show Rule";
        const text = label(`${actionText(params.action)} ${explanationText(result)}`, 2000);
        const { rule } = result;
        const answer = await inform(text, ...(rule ? [show] : []));
        if (answer !== show || !rule) return;
        await load();
        const node = tree.find(rule.id);
        if (node) await view.reveal(node, { select: true, focus: true });
    }

    async function explainDecided({ decided: { approval } }: DecidedNode): Promise<void> {
        const { action, sessionId } = approval;
        const session = sessionId !== undefined && sessions.get(sessionId) ? sessionId : undefined;
        await explain({ action, sessionId: session });
    }

    async function explainCall(): Promise<void> {
        const { servers } = await sidecar.request("toolServers/list", {});
        const tools = servers.flatMap((server) =>
            (server.tools ?? []).map(({ name }) => ({ label: label(name), description: `of ${label(server.name)}`, tool: name, server })),
        );
        const chosen = await vscode.window.showQuickPick(tools, { title: "Whether a call would be allowed: of which tool?" });
        if (!chosen) return;
        const text = await vscode.window.showInputBox({
            title: `Whether ${chosen.label} ${chosen.description} would be allowed: with which arguments?`,
            value: "{}",
            validateInput: (value) => (argumentsOf(value) ? undefined : "expected the arguments as a JSON object"),
        });
        const args = text === undefined ? undefined : argumentsOf(text);
        if (!args) return;
        const { server, tool } = chosen;
        const kind = server.source === "builtIn" ? "host" : "tool";
        const action: Action = { kind, server: server.name, tool, arguments: args, serverIdentity: server.identity };
        await explain({ action });
    }

    const command = (name: string, deed: (node: never) => Promise<void>) =>
        vscode.commands.registerCommand(`cellgate.${name}`, (node: never) => deed(node).catch(tell));

    return vscode.Disposable.from(
        tree,
        view,
        view.onDidChangeVisibility(refresh),
        sidecar.onDidConnect(refresh),
        pending.onDidDecide(refresh),
        // With them go the rules that were for as long as they are.
        sessions.onDidChange(refresh),
        executions.onDidChange(refresh),
        command("revokeRule", revoke),
        command("explainDecision", explainDecided),
        command("explainCall", explainCall),
        command("refreshRules", load),
    );
}

function argumentsOf(text: string): Record<string, unknown> | undefined {
    try {
        const value: unknown = JSON.parse(text);
        return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
    } catch {
        return undefined;
    }
}
