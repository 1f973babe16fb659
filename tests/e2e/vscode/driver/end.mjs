// `end` runs the actions that `atEnd` registered, in reverse order: what the process has to release before it exits.
const actions = [];

/** @param {() => Promise<unknown>} action */
export function atEnd(action) {
    actions.push(action);
}

export async function end() {
    for (const action of actions.splice(0).reverse()) {
        await action();
    }
}
