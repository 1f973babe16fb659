// `Guard` ignores keys and clicks that were meant for something else: for half a second after any change, and while the
// page is hidden, nothing answers. A press counts from when it begins, so a key that is held down while something
// appears does not answer it either.

export const quietMilliseconds = 500;

export class Guard {
    private changedAt = -Infinity;
    private pressed = false;
    private shown = true;

    constructor(private readonly now: () => number) {}

    changed(): void {
        this.changedAt = this.now();
        this.pressed = false;
    }

    /** Whether a user can see it at all. */
    show(shown: boolean): void {
        this.shown = shown;
        this.changed();
    }

    /** How long it will stay closed; 0 when it is open. */
    closedFor(): number {
        return this.shown ? Math.max(0, this.changedAt + quietMilliseconds - this.now()) : Infinity;
    }

    /** A key or a button goes down. */
    press(): void {
        this.pressed = this.closedFor() === 0;
    }

    /** Whether what is let go now, or done by it, may answer. Each press answers once. */
    release(): boolean {
        const may = this.pressed && this.closedFor() === 0;
        this.pressed = false;
        return may;
    }
}
