// `until` is how these tests wait for a condition in another process. No test sleeps for a fixed time, and a timeout
// reports the state that was found instead.
import { setTimeout as pause } from "node:timers/promises";
import { errors } from "playwright-core";

/** Milliseconds within which anything happens, even on a busy machine; a test that exceeds it has failed. */
export const TIMEOUT = 90_000;

// Looking into all frames of a window costs CPU time: the interval grows, so that waiting scenarios do not slow down
// working ones.
const FIRST_PAUSE = 20;
const MAX_PAUSE = 250;
const GROWTH = 1.25;

/**
 * The first truthy value of `condition`; throws a TimeoutError as Playwright does. `what` names the expected state; a
 * function may report the present one.
 * @template T
 * @param {() => T | Promise<T>} condition
 * @param {string | (() => string | Promise<string>)} what
 * @returns {Promise<NonNullable<T>>}
 */
export async function until(condition, what, timeout = TIMEOUT) {
    const end = performance.now() + timeout;
    for (let rest = FIRST_PAUSE; ; rest = Math.min(rest * GROWTH, MAX_PAUSE)) {
        const found = await condition();
        if (found) {
            return found;
        }
        if (performance.now() > end) {
            const words = typeof what === "string" ? what : await what();
            throw new errors.TimeoutError(`timed out after ${timeout / 1000} s waiting for ${words}`);
        }
        await pause(rest);
    }
}
