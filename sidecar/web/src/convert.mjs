import { Worker } from "node:worker_threads";
import { Failure } from "./failure.mjs";

const timeLimit = 30_000; // milliseconds
const memoryLimit = 512; // MiB

/**
 * markdownOf() in a thread of its own, which a page that takes too long or too much memory does not outlive. Throws a
 * Failure.
 */
export function convert(html, address, signal) {
    const resourceLimits = { maxOldGenerationSizeMb: memoryLimit };
    const worker = new Worker(process.argv[1], { workerData: { html, address }, env: {}, resourceLimits });
    return new Promise((resolve, reject) => {
        const giveUp = (why) => reject(new Failure(`the page cannot be turned into Markdown: ${why}`));
        const limit = setTimeout(() => giveUp(`it took more than ${timeLimit / 1000} seconds`), timeLimit);
        signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
        worker.on("message", ({ page, error }) => (page ? resolve(page) : giveUp(error)));
        worker.on("error", (error) => giveUp(error.message));
        worker.on("exit", () => {
            clearTimeout(limit);
            giveUp("its thread ended");
        });
    }).finally(() => worker.terminate());
}
