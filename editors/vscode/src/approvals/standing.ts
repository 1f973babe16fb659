// What stands in the page: the calls that wait, and those that were decided and keep their place while a person is near.

import { arrange, extend, type Block } from "./layout";
import type { Question } from "./messages";

export class Standing {
    private waiting: readonly Question[] = [];
    private readonly all = new Map<string, Question>();
    private readonly decided = new Map<string, string>();
    blocks: readonly Block[] = [];

    /** What waits now, and how others were decided. While a person is near, nothing that still waits moves. */
    take(waiting: readonly Question[], decided: readonly { id: string; text: string }[], near: boolean): void {
        const stays = waiting.some(({ id }) => this.all.has(id));
        this.waiting = waiting;
        for (const { id, text } of decided) if (this.all.has(id)) this.decided.set(id, text);
        for (const question of waiting) this.all.set(question.id, question);
        const ids = new Set(waiting.map(({ id }) => id));
        for (const id of this.all.keys()) if (!ids.has(id) && !this.decided.has(id)) this.decided.set(id, "");
        if (near && stays) this.blocks = extend(this.blocks, [...this.all.values()], (id) => this.decided.has(id));
        else this.settle();
    }

    /** Puts everything in order; whether that changes anything. */
    settle(): boolean {
        const ordered = arrange(this.waiting);
        if (this.decided.size === 0 && JSON.stringify(ordered) === JSON.stringify(this.blocks)) return false;
        for (const id of this.decided.keys()) this.all.delete(id);
        this.decided.clear();
        this.blocks = ordered;
        return true;
    }

    /** How many wait. */
    get count(): number {
        return this.waiting.length;
    }

    /** Whether the call stands here, decided or not. */
    has(id: string): boolean {
        return this.all.has(id);
    }

    questionsOf({ ids }: Block): Question[] {
        return ids.flatMap((id) => this.all.get(id) ?? []);
    }

    /** How the call was decided; undefined while it waits. */
    howOf(id: string): string | undefined {
        return this.decided.get(id);
    }
}
