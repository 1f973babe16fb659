// `RuleTree` is the view of rules, grouped by their source, and of the decision history.

import * as vscode from "vscode";
import type { PastDecision, PolicyDecisionsResult, Rule } from "../protocol/messages";
import { label, plain, escapeUnprintable } from "../text";
import { callText, outcomeText, pastDetails, pastText, ruleText, sources } from "./labels";

type Group = (typeof sources)[number];
export interface RuleNode {
    readonly rule: Rule;
}
export interface DecidedNode {
    readonly decided: PastDecision;
}
export type Node = { readonly problem: string } | { readonly group: Group } | RuleNode | { readonly past: true } | DecidedNode;

export class RuleTree implements vscode.TreeDataProvider<Node>, vscode.Disposable {
    private rules: RuleNode[] = [];
    private decisions: PolicyDecisionsResult = { decisions: [], forgotten: 0 };
    private problem: string | undefined;
    private readonly changed = new vscode.EventEmitter<undefined>();
    readonly onDidChangeTreeData = this.changed.event;

    dispose(): void {
        this.changed.dispose();
    }

    /** What is not given stays as it was; `problem` says why. */
    show(rules: readonly Rule[] | undefined, decisions: PolicyDecisionsResult | undefined, problem: string | undefined): void {
        if (rules) this.rules = rules.map((rule) => ({ rule }));
        if (decisions) this.decisions = decisions;
        this.problem = problem;
        this.changed.fire(undefined);
    }

    find(id: string): RuleNode | undefined {
        return this.rules.find(({ rule }) => rule.id === id);
    }

    getParent(node: Node): Node | undefined {
        if ("rule" in node) return this.groups().find(({ group }) => group.source === node.rule.source);
        return "decided" in node ? { past: true } : undefined;
    }

    getChildren(node?: Node): Node[] {
        const { decisions } = this.decisions;
        if (!node) {
            const problem = this.problem === undefined ? [] : [{ problem: this.problem }];
            return [...problem, ...this.groups(), ...(decisions.length > 0 ? [{ past: true } as const] : [])];
        }
        if ("group" in node) return this.rules.filter(({ rule }) => rule.source === node.group.source);
        if ("past" in node) return decisions.map((decided) => ({ decided }));
        return [];
    }

    getTreeItem(node: Node): vscode.TreeItem {
        if ("problem" in node) return problemItem(node.problem);
        if ("group" in node) return groupItem(node.group);
        if ("rule" in node) return ruleItem(node.rule, this.decisions.decisions);
        return "past" in node ? pastItem(this.decisions) : decidedItem(node);
    }

    private groups(): { group: Group }[] {
        return sources.filter(({ source }) => this.rules.some(({ rule }) => rule.source === source)).map((group) => ({ group }));
    }
}

function problemItem(problem: string): vscode.TreeItem {
    const item = new vscode.TreeItem(label(problem.split("\n")[0] ?? "", 300));
    item.id = "problem";
    item.iconPath = new vscode.ThemeIcon("warning");
    item.tooltip = plain(problem);
    return item;
}

function groupItem({ source, title, until }: Group): vscode.TreeItem {
    const state = source === "default" ? vscode.TreeItemCollapsibleState.Collapsed : vscode.TreeItemCollapsibleState.Expanded;
    const item = new vscode.TreeItem(title, state);
    item.id = source;
    item.description = until;
    return item;
}

const icons = { allow: ["check", "testing.iconPassed"], ask: ["question", "foreground"], deny: ["circle-slash", "errorForeground"], inspect: ["eye", "foreground"], review: ["preview", "foreground"] } as const;

function ruleItem(rule: Rule, decisions: readonly PastDecision[]): vscode.TreeItem {
    const item = new vscode.TreeItem(label(`${rule.effect} ${ruleText(rule)}`, 300));
    const [icon, color] = icons[rule.effect];
    item.id = rule.id;
    item.iconPath = new vscode.ThemeIcon(icon, new vscode.ThemeColor(color));
    item.description = [rule.uses === undefined ? undefined : `for ${rule.uses} more`, rule.sessionId, rule.createdAt && `since ${new Date(rule.createdAt).toLocaleString()}`]
        .filter((part) => part !== undefined)
        .map((part) => escapeUnprintable(part))
        .join(" · ");
    item.contextValue = rule.source === "default" ? "builtInRule" : "rule";
    // Of an answer that made it lately, what was shown is still known.
    const made = decisions.find((past) => past.rule?.id === rule.id && past.by === "user");
    item.tooltip = [
        ruleText(rule),
        rule.serverIdentity === undefined ? "" : "It is for exactly this configuration of the server.",
        rule.expiresAt === undefined ? "" : `It ends ${new Date(rule.expiresAt).toLocaleString()}.`,
        ...(made ? ["", "Made by the answer to:", ...made.display.map(plain)] : []),
    ].filter((line, index, all) => line !== "" || all[index - 1] !== "").join("\n");
    item.accessibilityInformation = { label: `rule: ${rule.effect} ${ruleText(rule)}` };
    return item;
}

function pastItem({ forgotten }: PolicyDecisionsResult): vscode.TreeItem {
    const item = new vscode.TreeItem("Decision history", vscode.TreeItemCollapsibleState.Collapsed);
    item.id = "decided";
    item.description = `answers, and what rules decided${forgotten > 0 ? `; ${forgotten} more are not shown` : ""}`;
    return item;
}

function decidedItem({ decided }: DecidedNode): vscode.TreeItem {
    const { number, action, display, decision, decidedAt, outcome } = decided;
    const became = outcomeText(decided);
    const item = new vscode.TreeItem(label(action?.tool === undefined ? (display[0] ?? "") : callText(action)));
    const [icon, color] = icons[decision];
    item.id = `decided ${number}`;
    item.description = label(`${pastText(decided)}${outcome && outcome.status !== "succeeded" ? `, ${became}` : ""} · ${new Date(decidedAt).toLocaleString()}`);
    item.iconPath = new vscode.ThemeIcon(icon, new vscode.ThemeColor(color));
    item.contextValue = decided.cancellable ? "decidedRunning" : "decided";
    item.tooltip = pastDetails(decided, became).join("\n");
    return item;
}
