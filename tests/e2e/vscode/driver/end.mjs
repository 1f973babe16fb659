// What a process that drives editors has to do away with at its end, whoever says when that is.
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
