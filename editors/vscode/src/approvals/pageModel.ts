// `PageModel` is the content of the approvals page: what waits, and what was decided, which keeps its place while the
// user is interacting with the page.

import { maxRowsInView } from "./editorOffer";
import { arrange, extend, type Block } from "./layout";
import type { Item } from "./messages";

export class PageModel {
    private waiting: readonly Item[] = [];
    private readonly all = new Map<string, Item>();
    private readonly decided = new Map<string, string>();
    blocks: readonly Block[] = [];
    /** More calls wait than the view shows at once. Like `blocks`, it changes only when nothing below it may move. */
    isLong = false;

    /** Takes the waiting calls, and how others were decided. While the user is interacting, no waiting call moves. */
    take(waiting: readonly Item[], decided: readonly { id: string; text: string }[], interacting: boolean): void {
        const stays = waiting.some(({ id }) => this.all.has(id));
        this.waiting = waiting;
        for (const { id, text } of decided) if (this.all.has(id)) this.decided.set(id, text);
        for (const item of waiting) this.all.set(item.id, item);
        const ids = new Set(waiting.map(({ id }) => id));
        for (const id of this.all.keys()) if (!ids.has(id) && !this.decided.has(id)) this.decided.set(id, "");
        if (interacting && stays) this.blocks = extend(this.blocks, [...this.all.values()], (id) => this.decided.has(id));
        else this.rearrange();
    }

    /** Puts everything in order. Returns whether that changed anything. */
    rearrange(): boolean {
        const ordered = arrange(this.waiting);
        const isLong = this.waiting.length > maxRowsInView;
        if (this.decided.size === 0 && isLong === this.isLong && JSON.stringify(ordered) === JSON.stringify(this.blocks)) return false;
        for (const id of this.decided.keys()) this.all.delete(id);
        this.decided.clear();
        this.blocks = ordered;
        this.isLong = isLong;
        return true;
    }

    /** How many wait. */
    get count(): number {
        return this.waiting.length;
    }

    /** Whether the call is in the page, decided or not. */
    has(id: string): boolean {
        return this.all.has(id);
    }

    itemsOf({ ids }: Block): Item[] {
        return ids.flatMap((id) => this.all.get(id) ?? []);
    }

    /** How the call was decided; undefined while it waits. */
    outcomeOf(id: string): string | undefined {
        return this.decided.get(id);
    }
}
