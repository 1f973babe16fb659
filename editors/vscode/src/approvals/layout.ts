// These functions lay out items in blocks, each with the calls of one tool of one cell, or one question of a tool server. While the user is interacting,
// nothing that can be answered moves: new calls come below, and a decided call leaves an empty place. Otherwise
// everything is put in order.

import { displayOf, partsByColumn, tableOf, type Display, type Table } from "./display";
import { areApprovals, isElicitationItem, type ApprovalItem, type Item, type Option } from "./messages";

export interface Block {
    /** Unique in the layout, and the same as long as the block is. */
    readonly key: string;
    readonly ids: readonly string[];
}

const groupOf = (item: Item) => JSON.stringify([item.card.key, item.group]);

/** Everything in order: cards and their tools as they first came. */
export function arrange(items: readonly Item[]): Block[] {
    const cards = [...new Set(items.map(({ card }) => card.key))];
    const ordered = cards.flatMap((key) => items.filter(({ card }) => card.key === key));
    const groups = new Map<string, string[]>();
    for (const item of ordered) {
        const ids = groups.get(groupOf(item)) ?? [];
        groups.set(groupOf(item), ids);
        ids.push(item.id);
    }
    return [...groups].map(([key, ids]) => ({ key, ids }));
}

/**
 * The present blocks, and below them the new ones of `items`, which are all calls of the page. A last block with a table
 * takes new rows that change nothing above them; last blocks without a waiting call are removed first.
 */
export function extend(blocks: readonly Block[], items: readonly Item[], isDecided: (id: string) => boolean): Block[] {
    const known = new Set(blocks.flatMap(({ ids }) => ids));
    const fresh = items.filter(({ id }) => !known.has(id));
    const byId = new Map(items.map((item) => [item.id, item]));
    const extended = [...blocks];
    if (fresh.length > 0) while (extended.at(-1)?.ids.every(isDecided)) extended.pop();
    for (const item of fresh) {
        const last = extended.at(-1);
        if (last && fits(last, item, byId)) {
            extended[extended.length - 1] = { key: last.key, ids: [...last.ids, item.id] };
        } else {
            extended.push({ key: `${groupOf(item)} ${item.id}`, ids: [item.id] });
        }
    }
    return extended;
}

function fits(block: Block, item: Item, byId: Map<string, Item>): boolean {
    const rows: readonly Item[] = block.ids.flatMap((id) => byId.get(id) ?? []);
    // A question has no table.
    if (rows.length < 2 || isElicitationItem(item) || !areApprovals(rows)) return false;
    if (!rows.every((row) => groupOf(row) === groupOf(item) && sameSource(row, item))) return false;
    const offered = new Set(rows.flatMap(({ options }) => options.map(({ key }) => key)));
    if (!item.options.every(({ key }) => offered.has(key))) return false;
    const before = tableOf(rows.map(({ display }) => displayOf(display)));
    const after = tableOf([...rows, item].map(({ display }) => displayOf(display)));
    return JSON.stringify(before) === JSON.stringify(after);
}

const sameSource = (a: ApprovalItem, b: ApprovalItem) => JSON.stringify(a.source) === JSON.stringify(b.source);

export interface Row {
    readonly item: ApprovalItem;
    readonly display: Display;
    /** What it has of the table's arguments; no lines where it lacks one. */
    readonly cells: readonly { readonly name: string; readonly lines?: readonly string[] }[];
    /** Options that most of the other calls have and this one lacks. */
    readonly missingOptions: readonly string[];
}

export interface Contents {
    readonly title: string;
    readonly table: Table;
    readonly changes: readonly string[];
    readonly rows: readonly Row[];
    /** All answers that are offered for any of them. */
    readonly options: readonly Option[];
    /** The source that all of them share. */
    readonly source: ApprovalItem["source"];
}

/** What a block shows. */
export function contentsOf(items: readonly ApprovalItem[]): Contents {
    const displays = items.map(({ display }) => displayOf(display));
    const table = tableOf(displays);
    const options = new Map(items.flatMap((item) => item.options.map((option) => [option.key, option])));
    const usual = [...options.values()].filter(
        ({ key, wide }) => wide && items.filter((item) => offers(item, key)).length * 2 > items.length,
    );
    const first = items[0];
    return {
        title: displays[0]?.title ?? "",
        table,
        changes: first?.changes ?? [],
        rows: items.map((item, index) => {
            const display = displays[index] ?? displayOf(item.display);
            const parts = partsByColumn(display);
            return {
                item,
                display,
                cells: table.columns.map((column) => parts.get(column) ?? { name: column }),
                missingOptions: usual.filter(({ key }) => !offers(item, key)).map(({ label }) => label),
            };
        }),
        options: [...options.values()],
        source: first && items.every((item) => sameSource(first, item)) ? first.source : undefined,
    };
}

export const offers = (item: ApprovalItem, key: string) => item.options.some((option) => option.key === key);

/** Which of these calls an option allows: those that were shown to their ends, and are offered it. */
export function allowed(items: readonly ApprovalItem[], option: string, isDisplayed: (id: string) => boolean): string[] {
    return items.filter((item) => offers(item, option) && isDisplayed(item.id)).map(({ id }) => id);
}
