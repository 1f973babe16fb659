// Which of the calls that stand together the next answer is for. All of them, until a person chooses among them: from
// then on a call is only added by that person, wherever it came from.

export class Choices {
    private readonly left = new Set<string>();
    private readonly chosenAmong = new Set<string>();

    /** These stand together now. */
    gather(ids: readonly string[]): void {
        if (!ids.some((id) => this.chosenAmong.has(id))) return;
        for (const id of ids) {
            if (this.chosenAmong.has(id)) continue;
            this.chosenAmong.add(id);
            this.left.add(id);
        }
    }

    /** A person chooses among calls that stand together. */
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

    /** All others are gone. */
    keep(ids: { has(id: string): boolean }): void {
        for (const set of [this.left, this.chosenAmong]) for (const id of set) if (!ids.has(id)) set.delete(id);
    }
}
