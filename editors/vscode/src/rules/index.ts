// Rules in the editor: a view of those in force, revoking them, and why a call is allowed, asked about or denied.

import * as vscode from "vscode";
import type { Cellgate } from "../cellgate";
import { isAnswer, textOf } from "../client/errors";
import { ask, inform, tell } from "../notices";
import type { Action, PolicyExplainParams, PolicyExplainResult, Rule } from "../protocol/messages";
import { label } from "../text";
import { RuleTree, type DecidedNode, type Node, type RuleNode } from "./tree";
import { actionText, explanationText, pastReason, ruleText } from "./words";

export function rules({ sidecar, pending, sessions, executions }: Cellgate): vscode.Disposable {
    const tree = new RuleTree();
    const view: vscode.TreeView<Node> = vscode.window.createTreeView("cellgate.rules", { treeDataProvider: tree });

    async function read(): Promise<void> {
        // Each by itself: where stored rules cannot be read, what was decided says so.
        const [list, past] = await Promise.allSettled([sidecar.request("policy/list", {}), sidecar.request("policy/decisions", {})]);
        const failed = [list, past].find((each) => each.status === "rejected");
        tree.show(
            list.status === "fulfilled" ? list.value.rules : undefined,
            past.status === "fulfilled" ? past.value : undefined,
            // Without a connection the next one asks again.
            failed && isAnswer(failed.reason) ? textOf(failed.reason) : undefined,
        );
    }

    let loading: Promise<void> | undefined;
    let next: Promise<void> | undefined;
    /** One at a time: who asks while one is under way waits for the one after it, with all others. */
    function load(): Promise<void> {
        if (!loading) return (loading = read().finally(() => (loading = undefined)));
        return (next ??= loading.then(() => {
            next = undefined;
            return load();
        }));
    }

    /** cellgate tells nobody of its rules: what may have changed them asks for them. */
    function refresh(): void {
        if (view.visible) void load();
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

    async function tellWhy(text: string, rule: Rule | undefined): Promise<void> {
        const node = rule && tree.find(rule.id);
        const show = "Show Rule";
        const answer = await inform(label(text, 2000), ...(node ? [show] : []));
        if (answer === show && node) await view.reveal(node, { select: true, focus: true });
    }

    function explain(params: PolicyExplainParams): Promise<PolicyExplainResult> {
        return sidecar.request("policy/explain", params);
    }

    async function explainDecided({ decided }: DecidedNode): Promise<void> {
        const { action, rule, executionId } = decided;
        await load();
        // Of a rule that is still there, that it decided says enough.
        if (!action || (rule && tree.find(rule.id))) return tellWhy(pastReason(decided), rule);
        const sessionId = decided.sessionId !== undefined && sessions.get(decided.sessionId) ? decided.sessionId : undefined;
        const now = await explain({ action, sessionId, executionId });
        await tellWhy(pastReason(decided, now), now.rule);
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
        const now = await explain({ action });
        await load();
        await tellWhy(`${actionText(action)} ${explanationText(now)}`, now.rule);
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
