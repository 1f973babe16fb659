// `serialQueue` runs asynchronous tasks one at a time, for editor operations that abort one another.

/** The returned function runs each task once all earlier ones have settled, and returns its result. */
export function serialQueue(): <T>(task: () => Promise<T>) => Promise<T> {
    let last: Promise<unknown> = Promise.resolve();
    return (task) => {
        const done = last.then(task);
        last = done.catch(() => undefined);
        return done;
    };
}
