// `Selection` is the set of calls in a block that the next answer covers. It is all of them until the user chooses
// among them; from then on only the user adds a call.

export class Selection {
    private readonly left = new Set<string>();
    private readonly chosenAmong = new Set<string>();

    /** These calls share a block now. */
    gather(ids: readonly string[]): void {
        if (!ids.some((id) => this.chosenAmong.has(id))) return;
        for (const id of ids) {
            if (this.chosenAmong.has(id)) continue;
            this.chosenAmong.add(id);
            this.left.add(id);
        }
    }

    /** The user chooses among the calls of a block. */
    choose(together: readonly string[], isChosen: (id: string) => boolean): void {
        for (const id of together) {
            this.chosenAmong.add(id);
            if (isChosen(id)) this.left.delete(id);
            else this.left.add(id);
        }
    }

    has(id: string): boolean {
        return !this.left.has(id);
    }

    /** Forgets all other calls. */
    keep(ids: { has(id: string): boolean }): void {
        for (const set of [this.left, this.chosenAmong]) for (const id of set) if (!ids.has(id)) set.delete(id);
    }
}
