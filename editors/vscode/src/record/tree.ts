// `RecordTree` is the view of the record: what happened, newest first, with the entries of an execution below it.

import * as vscode from "vscode";
import type { RecordEntry } from "../protocol/messages";
import { label, plain } from "../text";
import type { RecordEntries, Row } from "./entries";
import { actorText, entryDetails, entryIcon, entryText, runEndText, runText, shortTimeText, timeText, undoOf } from "./labels";

export type Node = Row | { readonly problem: string } | { readonly older: true };

export class RecordTree implements vscode.TreeDataProvider<Node>, vscode.Disposable {
    private readonly changed = new vscode.EventEmitter<undefined>();
    readonly onDidChangeTreeData = this.changed.event;
    private readonly subscription: { dispose(): void };

    constructor(private readonly entries: RecordEntries) {
        this.subscription = entries.onDidChange(() => this.changed.fire(undefined));
    }

    dispose(): void {
        this.subscription.dispose();
        this.changed.dispose();
    }

    getChildren(node?: Node): Node[] {
        if (node) return "run" in node ? node.run.entries.map((entry) => ({ entry })) : [];
        const { problem, more } = this.entries;
        return [
            ...(problem === undefined ? [] : [{ problem }]),
            ...this.entries.rows(),
            ...(more ? [{ older: true } as const] : []),
        ];
    }

    getTreeItem(node: Node): vscode.TreeItem {
        if ("problem" in node) return problemItem(node.problem);
        if ("older" in node) return olderItem();
        if ("entry" in node) return entryItem(node.entry, this.entries.decisionOf(node.entry));
        const { text, executionId } = this.entries.filter;
        return runItem(node.run, text !== undefined || executionId !== undefined);
    }
}

const colors: Readonly<Record<string, string>> = { check: "testing.iconPassed", error: "errorForeground", "circle-slash": "errorForeground" };

function iconOf(id: string): vscode.ThemeIcon {
    const color = colors[id];
    return new vscode.ThemeIcon(id, color === undefined ? undefined : new vscode.ThemeColor(color));
}

function problemItem(problem: string): vscode.TreeItem {
    const item = new vscode.TreeItem(label(problem.split("\n")[0] ?? "", 300));
    item.id = "problem";
    item.iconPath = new vscode.ThemeIcon("warning");
    item.tooltip = plain(problem);
    return item;
}

function olderItem(): vscode.TreeItem {
    const item = new vscode.TreeItem("Load older entries");
    item.id = "older";
    item.iconPath = new vscode.ThemeIcon("ellipsis");
    item.command = { title: "Load Older Entries", command: "cellgate.loadOlderRecord" };
    return item;
}

function entryItem(entry: RecordEntry, decided: RecordEntry | undefined): vscode.TreeItem {
    const text = entryText(entry, decided);
    const item = new vscode.TreeItem(label(text));
    item.id = `entry ${entry.seq}`;
    item.description = label(`${shortTimeText(entry)} · ${actorText(entry)}`);
    item.iconPath = iconOf(entryIcon(entry));
    item.contextValue = contextOf(entry);
    item.tooltip = entryDetails(entry, decided).join("\n").slice(0, 4000);
    item.accessibilityInformation = { label: label(`${text}, ${timeText(entry)}, ${actorText(entry)}`) };
    return item;
}

/** By which package.json offers commands on it. */
function contextOf({ type, executionId, data }: RecordEntry): string {
    if (executionId !== undefined && type.startsWith("files.")) return "recordEntry changes execution source";
    if (executionId !== undefined) return "recordEntry execution source";
    return data.origin === undefined ? "recordEntry" : "recordEntry source";
}

function runItem({ executionId, entries, started, ended }: Extract<Row, { run: unknown }>["run"], unfolded: boolean): vscode.TreeItem {
    const { Expanded, Collapsed } = vscode.TreeItemCollapsibleState;
    const item = new vscode.TreeItem(label(runText(started, entries), 80), unfolded ? Expanded : Collapsed);
    // What was found unfolds by itself.
    item.id = `${unfolded ? "found " : ""}execution ${executionId}`;
    const last = started ?? entries[0];
    item.description = label([runEndText(ended), last && `${shortTimeText(last)} · ${actorText(last)}`].filter(Boolean).join(" · "));
    const iconic = ended ?? (started ? undefined : undoOf(entries));
    item.iconPath = iconic ? iconOf(entryIcon(iconic)) : new vscode.ThemeIcon("code");
    item.contextValue = "recordRun execution source";
    item.tooltip = last && entryDetails(last).join("\n").slice(0, 4000);
    return item;
}
