// The editor as the person in front of it has it: a window in a browser, its palette, files, keys, lenses, panes.
import { mkdir } from "node:fs/promises";
import path from "node:path";
import { theBrowser } from "./browser.mjs";
import { until } from "./wait.mjs";

export class Editor {
    /**
     * @param {import("./server.mjs").Server} server
     * @param {string} artefacts folder for screenshots
     * @param {string | null} [workspace] the file that describes it; null: none; else it is the place's one folder
     */
    static async open(server, artefacts, workspace) {
        const browser = await theBrowser();
        const page = await browser.window(server.socket);
        const editor = new Editor(browser, page, artefacts);
        const opened = openedBy(workspace, server.place);
        try {
            await page.goto(`${browser.address}/?${new URLSearchParams(opened)}`);
            await editor.#ready(workspace === null ? ".editor-group-watermark" : undefined);
        } catch (error) {
            await editor.screenshot("failure").catch(() => {});
            await editor.close();
            throw error;
        }
        return editor;
    }

    /**
     * @param {Awaited<ReturnType<typeof theBrowser>>} browser
     * @param {import("playwright-core").Page} page
     * @param {string} artefacts
     */
    constructor(browser, page, artefacts) {
        this.browser = browser;
        this.page = page;
        this.artefacts = artefacts;
        this.console = "";
        page.on("console", (message) => (this.console += `${message.type()}: ${message.text()}\n`));
        page.on("pageerror", (error) => (this.console += `error: ${error.message}\n`));
    }

    // The workbench takes keys once its first view has its rows.
    async #ready(view = ".part.sidebar .monaco-list-row") {
        await this.page.locator(".monaco-workbench").waitFor();
        await this.page.locator(view).first().waitFor();
    }

    /**
     * Reloads the window: the extension host ends, and another one starts. In a browser the editor cannot save on the
     * way out which tabs are open; it does so every few seconds, and that is waited for.
     */
    async reload(meanwhile = async () => undefined) {
        const tabs = await this.page.locator(".tab[data-resource-name]").all();
        const names = await Promise.all(tabs.map((tab) => tab.getAttribute("data-resource-name")));
        let saved = "";
        await until(
            async () => {
                saved = await this.page.evaluate(savedEditors);
                return names.every((name) => saved.includes(name));
            },
            () => `the tabs ${names.join(", ")} in what the editor saved: ${saved}`,
        );
        const address = this.page.url();
        await this.page.goto("about:blank");
        await meanwhile();
        await this.page.goto(address);
        await this.#ready();
    }

    /** Runs a command by its title, as the palette shows it. @param {string} title */
    async command(title) {
        await this.page.keyboard.press("F1");
        await this.#pick(`>${title}`, title);
    }

    /** Whether the palette offers a command by this title. @param {string} title */
    async offers(title) {
        await this.page.keyboard.press("F1");
        const input = this.page.locator(".quick-input-widget input.input");
        await input.waitFor();
        await input.fill(`>${title}`);
        const rows = this.page.locator(".quick-input-list .monaco-list-row");
        await rows.first().waitFor();
        const name = this.page.locator(".label-name").getByText(title, { exact: true });
        const count = await rows.filter({ has: name }).count();
        await this.page.keyboard.press("Escape");
        await input.waitFor({ state: "hidden" });
        return count > 0;
    }

    /** Opens a file of the workspace and waits until it can be typed into. @param {string} name */
    async openFile(name) {
        await this.page.keyboard.press("Control+P");
        await this.#pick(name, path.basename(name));
        await this.page.locator(`.tab.active[data-resource-name="${path.basename(name)}"]`).waitFor();
        // A notebook lies over its place in the window, and not in it.
        const content = name.endsWith(".ipynb") ? ".notebookOverlay .cell" : ".editor-group-container.active .monaco-editor .view-line";
        await this.page.locator(content).first().waitFor();
    }

    /** Chooses a row of the quick input that is open. @param {string} filter @param {string} label */
    async #pick(filter, label) {
        const input = this.page.locator(".quick-input-widget input.input");
        await input.waitFor();
        await input.fill(filter);
        await this.choose(label);
    }

    /** Clicks the row of a pick that is open, by its label. @param {string | RegExp} label */
    async choose(label) {
        const name = this.page.locator(".label-name").getByText(label, { exact: true });
        await this.page.locator(".quick-input-list .monaco-list-row").filter({ has: name }).first().click();
    }

    /** Puts the cursor into a line of the active text editor, counted from 1. @param {number} number */
    async goToLine(number) {
        await this.page.keyboard.press("Control+G");
        const input = this.page.locator(".quick-input-widget input.input");
        await input.waitFor();
        await input.fill(`:${number}`);
        await this.page.keyboard.press("Enter");
        await input.waitFor({ state: "hidden" });
        // The cursor is shown there while the line is still chosen; keys go to it once the editor has the focus again.
        await this.page.locator(".part.editor .monaco-editor.focused").waitFor();
        await this.statusItem(new RegExp(`Ln ${number}, `)).waitFor();
    }

    /** The lenses with that title, from the top. @param {string | RegExp} title */
    lens(title) {
        return this.page.locator(".codelens-decoration a", { hasText: title });
    }

    /** An entry of the status bar that has this text. @param {string | RegExp} text */
    statusItem(text) {
        return this.page.locator(".statusbar-item", { hasText: text });
    }

    /** A notification with this text. @param {string | RegExp} text */
    notification(text) {
        return this.page.locator(".notifications-toasts .notification-list-item", { hasText: text });
    }

    /** A dialog with this text. @param {string | RegExp} text */
    dialog(text) {
        return this.page.locator(".monaco-dialog-box", { hasText: text });
    }

    /** What matches in any frame within the window, such as outputs and webviews. @param {string} selector */
    async inFrames(selector) {
        return (await this.#matching(selector))?.locator(selector);
    }

    /** The first frame within the window that has `selector`, once there is one. @param {string} selector @param {string} [what] */
    async frame(selector, what = `a frame with ${selector}`) {
        return until(
            () => this.#matching(selector),
            async () => `${what}; the frames hold: ${await this.#frameTexts()}`,
        );
    }

    /** @param {string} selector */
    async #matching(selector) {
        for (const frame of this.page.frames().slice(1)) {
            // A frame that goes away while it is looked into has nothing.
            if (await frame.locator(selector).count().catch(() => 0)) {
                return frame;
            }
        }
        return undefined;
    }

    async #frameTexts() {
        const texts = this.page.frames().slice(1).map(async (frame) => {
            const text = await frame.evaluate(() => document.body?.innerText ?? "").catch(() => "(gone)");
            return JSON.stringify(text.slice(0, 400));
        });
        return (await Promise.all(texts)).join(", ");
    }

    /** Keeps what the window shows now. @param {string} name */
    async screenshot(name) {
        await mkdir(this.artefacts, { recursive: true });
        await this.page.screenshot({ path: path.join(this.artefacts, `${name}.png`) });
    }

    async close() {
        await this.browser.closeWindows();
    }
}

function openedBy(workspace, place) {
    if (workspace === null) return { ew: "true" };
    return workspace === undefined ? { folder: place.workspace } : { workspace: place.file(workspace) };
}

/** What the editor has saved of its tabs; runs in its page. */
async function savedEditors() {
    const texts = [];
    for (const { name } of await indexedDB.databases()) {
        if (!name.startsWith("vscode-web-state-db-")) {
            continue;
        }
        const database = await new Promise((resolve, reject) => {
            const request = indexedDB.open(name);
            request.onsuccess = () => resolve(request.result);
            request.onerror = () => reject(request.error);
        });
        const store = database.transaction("ItemTable").objectStore("ItemTable");
        texts.push(
            await new Promise((resolve, reject) => {
                const request = store.get("memento/workbench.parts.editor");
                request.onsuccess = () => resolve(String(request.result ?? ""));
                request.onerror = () => reject(request.error);
            }),
        );
        database.close();
    }
    return texts.join();
}
