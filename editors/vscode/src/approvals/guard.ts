// The guard against keys and clicks that were meant for something else: for half a second after anything has changed,
// nothing answers. A press counts from when it begins, so that what is held down while something appears does not
// answer it either.

export const quietMilliseconds = 500;

export class Guard {
    private changedAt = -Infinity;
    private pressed = false;

    constructor(private readonly now: () => number) {}

    changed(): void {
        this.changedAt = this.now();
        this.pressed = false;
    }

    /** How long it will stay closed; 0 when it is open. */
    closedFor(): number {
        return Math.max(0, this.changedAt + quietMilliseconds - this.now());
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
