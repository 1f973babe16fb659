// `Approvals` is the approvals page as a user has it: the waiting calls, and the buttons that answer them.
import { until } from "./wait.mjs";

export class Approvals {
    /** The view, once it has come up. @param {import("./editor.mjs").Editor} editor */
    static async of(editor) {
        return new Approvals(editor, await editor.frame("main.blocks", "the view Approvals"));
    }

    /** @param {import("./editor.mjs").Editor} editor @param {import("playwright-core").Frame} frame */
    constructor(editor, frame) {
        this.editor = editor;
        this.frame = frame;
    }

    /** A block by what its title or payload says. @param {string | RegExp} text */
    block(text) {
        return this.frame.locator(".block:not(.decided)", { hasText: text });
    }

    /** The rows of calls that wait in a table. */
    get rows() {
        return this.frame.locator("tbody tr:not(.decided)");
    }

    /** @param {string | RegExp} label */
    allow(label) {
        return this.frame.locator("button.allow", { hasText: label });
    }

    get deny() {
        return this.frame.locator("button.deny");
    }

    /**
     * Answers as a user who has looked at all of it, and waited for a moment; again where the guard closed meanwhile.
     * @param {import("playwright-core").Locator} button
     */
    async press(button) {
        do await this.ready(button);
        while (!(await this.#click(button)));
    }

    /** Whether the guard was open at the press and at its end. @param {import("playwright-core").Locator} button */
    async #click(button) {
        await this.frame.evaluate(() => {
            window.wasOpen = true;
            const look = () => (window.wasOpen &&= document.body.dataset.guard === "open");
            for (const type of ["pointerdown", "click"]) addEventListener(type, look, { capture: true, once: true });
        });
        await button.click();
        // A page that is gone was answered.
        return this.frame.evaluate(() => window.wasOpen).catch(() => true);
    }

    /** All that the answer covers was in view, and the guard is open. @param {import("playwright-core").Locator} button */
    async ready(button) {
        await button.scrollIntoViewIfNeeded();
        // That it moved is a change, too, which the view knows of with the next frame.
        await this.#frames();
        await until(
            async () => (await button.getAttribute("aria-disabled")) !== "true" && (await this.frame.locator('body[data-guard="open"]').count()) > 0,
            async () => `a button that answers; the view says: ${await this.text()}`,
        );
    }

    /** Scrolls through all of it with the wheel, as a user does, until the button answers for each call. @param {import("playwright-core").Locator} button */
    async scrollThrough(button) {
        const isDone = async () => {
            const [covers, all = covers] = (await button.locator(".count").innerText()).split(" of ");
            return covers === all && (await button.getAttribute("aria-disabled")) === "false";
        };
        const frame = await (await this.frame.frameElement()).boundingBox();
        await this.editor.page.mouse.move(frame.x + frame.width / 2, frame.y + frame.height / 2);
        await until(
            async () => {
                if (await isDone()) return true;
                await this.editor.page.mouse.wheel(0, 50);
                // What a frame did not show was not seen.
                await this.#frames();
                return false;
            },
            async () => `everything to be shown to its end; the view says: ${await this.text()}`,
        );
    }

    /** What was asked of the page before is painted, and it has heard of that. */
    async #frames() {
        await this.frame.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
    }

    /** Nothing waits any more. */
    async empty() {
        await this.frame.locator("p.empty", { hasText: "Nothing waits for you." }).waitFor();
    }

    async text() {
        return this.frame.locator("body").innerText();
    }

    /** From now on the page's time stands still, but for what `pass` adds. */
    async stopClock() {
        await this.frame.evaluate(() => {
            let now = performance.now();
            performance.now = () => now;
            window.pass = (milliseconds) => (now += milliseconds);
        });
    }

    /** Time goes on again. */
    async startClock() {
        await this.frame.evaluate(() => delete performance.now);
    }

    /** @param {number} milliseconds */
    async pass(milliseconds) {
        await this.frame.evaluate((count) => window.pass(count), milliseconds);
    }
}
