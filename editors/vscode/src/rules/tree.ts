// The view of rules: what is allowed and denied without asking, by where it comes from, and what was decided lately.

import * as vscode from "vscode";
import { decisionText, type Decided, type Pending } from "../approvals/pending";
import type { Rule } from "../protocol/messages";
import { label, visible } from "../text";
import { ruleText, sources } from "./words";

type Group = (typeof sources)[number];
export interface RuleNode {
    readonly rule: Rule;
}
export interface DecidedNode {
    readonly decided: Decided;
}
export type Node = { readonly group: Group } | RuleNode | { readonly past: true } | DecidedNode;

export class RuleTree implements vscode.TreeDataProvider<Node>, vscode.Disposable {
    private rules: RuleNode[] = [];
    private readonly changed = new vscode.EventEmitter<undefined>();
    readonly onDidChangeTreeData = this.changed.event;

    constructor(private readonly pending: Pending) {}

    dispose(): void {
        this.changed.dispose();
    }

    show(rules: readonly Rule[]): void {
        this.rules = rules.map((rule) => ({ rule }));
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
        if (!node) return [...this.groups(), ...(this.pending.decided().length > 0 ? [{ past: true } as const] : [])];
        if ("group" in node) return this.rules.filter(({ rule }) => rule.source === node.group.source);
        if ("past" in node) return this.pending.decided().map((decided) => ({ decided }));
        return [];
    }

    getTreeItem(node: Node): vscode.TreeItem {
        if ("group" in node) return groupItem(node.group);
        if ("rule" in node) return ruleItem(node.rule, this.pending);
        return "past" in node ? pastItem() : decidedItem(node.decided);
    }

    private groups(): { group: Group }[] {
        return sources.filter(({ source }) => this.rules.some(({ rule }) => rule.source === source)).map((group) => ({ group }));
    }
}

function groupItem({ source, title, until }: Group): vscode.TreeItem {
    const state = source === "default" ? vscode.TreeItemCollapsibleState.Collapsed : vscode.TreeItemCollapsibleState.Expanded;
    const item = new vscode.TreeItem(title, state);
    item.id = source;
    item.description = until;
    return item;
}

const icons = { allow: ["check", "testing.iconPassed"], ask: ["question", "foreground"], deny: ["circle-slash", "errorForeground"] } as const;

function ruleItem(rule: Rule, pending: Pending): vscode.TreeItem {
    const item = new vscode.TreeItem(label(`${rule.effect} ${ruleText(rule)}`, 300));
    const [icon, color] = icons[rule.effect];
    item.id = rule.id;
    item.iconPath = new vscode.ThemeIcon(icon, new vscode.ThemeColor(color));
    item.description = [rule.sessionId, rule.createdAt && `since ${new Date(rule.createdAt).toLocaleString()}`]
        .filter((part) => part !== undefined)
        .map((part) => visible(part))
        .join(" · ");
    item.contextValue = rule.source === "default" ? "builtInRule" : "rule";
    // Of an answer that made it here, what was shown is still known.
    const made = pending.decided().find(({ how }) => how.ruleId === rule.id && how.by === "person");
    item.tooltip = [
        ruleText(rule),
        rule.serverIdentity === undefined ? "" : "It is for exactly this configuration of the server.",
        rule.expiresAt === undefined ? "" : `It ends ${visible(rule.expiresAt)}.`,
        ...(made ? ["", "Made by your answer to:", ...made.approval.display] : []),
    ].filter((line, index, all) => line !== "" || all[index - 1] !== "").join("\n");
    item.accessibilityInformation = { label: `rule: ${rule.effect} ${ruleText(rule)}` };
    return item;
}

function pastItem(): vscode.TreeItem {
    const item = new vscode.TreeItem("Decided lately", vscode.TreeItemCollapsibleState.Collapsed);
    item.id = "decided";
    item.description = "asked about while this window was open";
    return item;
}

function decidedItem(decided: Decided): vscode.TreeItem {
    const { approval, how } = decided;
    const item = new vscode.TreeItem(label(approval.display[0] ?? ""));
    const [icon, color] = icons[how.decision];
    item.id = `decided ${approval.approvalId}`;
    item.description = decisionText(decided) + (how.reason === undefined ? "" : `: ${label(how.reason)}`);
    item.iconPath = new vscode.ThemeIcon(icon, new vscode.ThemeColor(color));
    item.contextValue = "decided";
    item.tooltip = approval.display.join("\n");
    return item;
}
