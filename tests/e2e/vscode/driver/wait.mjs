// Waiting for a condition that lives in another process. There is no other way to wait in these tests: nothing sleeps
// for a while and hopes, and what did not come says what there was instead.
import { setTimeout as pause } from "node:timers/promises";

/** For what has to happen soon on a busy machine; a test that runs into it has failed. */
export const PATIENCE = 90_000;

// A look into all frames of a window costs milliseconds of its processes: whoever waits long looks less often, or the
// scenarios that wait would take the machine from those that work.
const FIRST_PAUSE = 20;
const LONGEST_PAUSE = 250;
const GROWTH = 1.25;

/**
 * The first truthy value of `condition`. `what` names what was waited for; a function may say what there is instead.
 * @template T
 * @param {() => T | Promise<T>} condition
 * @param {string | (() => string | Promise<string>)} what
 * @returns {Promise<NonNullable<T>>}
 */
export async function until(condition, what, patience = PATIENCE) {
    const end = performance.now() + patience;
    for (let rest = FIRST_PAUSE; ; rest = Math.min(rest * GROWTH, LONGEST_PAUSE)) {
        const found = await condition();
        if (found) {
            return found;
        }
        if (performance.now() > end) {
            const words = typeof what === "string" ? what : await what();
            throw new Error(`waited ${patience / 1000} s in vain for ${words}`);
        }
        await pause(rest);
    }
}
