// `Explanations` tells the user why a past action was allowed or denied, and whether a call would be allowed now.

import * as vscode from "vscode";
import type { Sidecar } from "../client/sidecar";
import { inform } from "../notices";
import type { Action, PastDecision, Rule } from "../protocol/messages";
import type { Sessions } from "../sessions";
import { label } from "../text";
import { actionText, explanationText, pastReason } from "./labels";
import type { Node, RuleTree } from "./tree";

interface Parts {
    readonly sidecar: Pick<Sidecar, "request">;
    readonly sessions: Pick<Sessions, "get">;
    readonly tree: RuleTree;
    readonly view: vscode.TreeView<Node>;
    /** Reads the rules into the tree. */
    readonly load: () => Promise<void>;
}

export class Explanations {
    constructor(private readonly parts: Parts) {}

    async explainDecision(decided: PastDecision): Promise<void> {
        const { sidecar, sessions, tree, load } = this.parts;
        const { action, rule, executionId } = decided;
        await load();
        // When the rule that decided still exists, naming it is enough.
        if (!action || (rule && tree.find(rule.id))) return this.report(pastReason(decided), rule);
        const sessionId = decided.sessionId !== undefined && sessions.get(decided.sessionId) ? decided.sessionId : undefined;
        const now = await sidecar.request("policy/explain", { action, sessionId, executionId });
        await this.report(pastReason(decided, now), now.rule);
    }

    /** The user picks a tool and types its arguments. */
    async explainCall(): Promise<void> {
        const { sidecar, load } = this.parts;
        const action = await this.pickAction();
        if (!action) return;
        const now = await sidecar.request("policy/explain", { action });
        await load();
        await this.report(`${actionText(action)} ${explanationText(now)}`, now.rule);
    }

    private async pickAction(): Promise<Action | undefined> {
        const { servers } = await this.parts.sidecar.request("toolServers/list", {});
        const tools = servers.flatMap((server) =>
            (server.tools ?? []).map(({ name }) => ({ label: label(name), description: `of ${label(server.name)}`, tool: name, server })),
        );
        const chosen = await vscode.window.showQuickPick(tools, { title: "Whether a call would be allowed: of which tool?" });
        if (!chosen) return undefined;
        const text = await vscode.window.showInputBox({
            title: `Whether ${chosen.label} ${chosen.description} would be allowed: with which arguments?`,
            value: "{}",
            validateInput: (value) => (isObject(value) ? undefined : "expected the arguments as a JSON object"),
        });
        if (text === undefined) return undefined;
        const { server, tool } = chosen;
        const kind = server.source === "builtIn" ? "host" : "tool";
        return { kind, server: server.name, tool, argumentsText: text, serverIdentity: server.identity };
    }

    private async report(text: string, rule: Rule | undefined): Promise<void> {
        const node = rule && this.parts.tree.find(rule.id);
        const show = "Show Rule";
        const answer = await inform(label(text, 2000), ...(node ? [show] : []));
        if (answer === show && node) await this.parts.view.reveal(node, { select: true, focus: true });
    }
}

function isObject(text: string): boolean {
    try {
        const value: unknown = JSON.parse(text);
        return typeof value === "object" && value !== null && !Array.isArray(value);
    } catch {
        return false;
    }
}
