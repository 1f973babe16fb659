// Deeds of which the editor does one at a time, and ends another that is under way.

/** What it returns does each deed once those before it have ended, whatever became of them. */
export function inTurn(): <T>(deed: () => Promise<T>) => Promise<T> {
    let last: Promise<unknown> = Promise.resolve();
    return (deed) => {
        const done = last.then(deed);
        last = done.catch(() => undefined);
        return done;
    };
}
