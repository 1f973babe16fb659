// `Editor` is VS Code in a browser window, as its user operates it: palette, files, keys, lenses, panes.
//
// A key or a pick may be lost: the command of a key first waits for the extension host, and a quick input closes when
// something else takes the focus. So an operation checks the state it needs, and is repeated until its effect is seen.
// Only operations that are harmless twice are repeated; the click that accepts a pick happens once.
import { mkdir } from "node:fs/promises";
import path from "node:path";
import { errors } from "playwright-core";
import { sharedBrowser } from "./browser.mjs";
import { TIMEOUT, until } from "./wait.mjs";

/** Milliseconds for the effect of the first attempt; each further attempt has twice as long. */
const FIRST_ATTEMPT = 5_000;

export class Editor {
    /**
     * @param {import("./server.mjs").Server} server
     * @param {string} artefacts folder for screenshots
     * @param {string | null} [workspaceFile] the .code-workspace file to open; null: no folder; default: the workspace's folder
     */
    static async open(server, artefacts, workspaceFile) {
        const browser = await sharedBrowser();
        const page = await browser.window(server.socket);
        const editor = new Editor(browser, page, artefacts);
        const opened = startParameters(workspaceFile, server.workspace);
        try {
            await page.goto(`${browser.address}/?${new URLSearchParams(opened)}`);
            await editor.#ready(workspaceFile === null ? ".editor-group-watermark" : undefined);
        } catch (error) {
            await editor.screenshot("failure").catch(() => {});
            await editor.close();
            throw error;
        }
        return editor;
    }

    /**
     * @param {Awaited<ReturnType<typeof sharedBrowser>>} browser
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

    // The workbench accepts keys once its first view has its rows.
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
        await this.#pick(`>${title}`, title);
    }

    /** Whether the palette offers a command by this title. @param {string} title */
    async offers(title) {
        const rows = this.page.locator(".quick-input-list .monaco-list-row");
        await this.#repeat(async (timeout) => {
            await this.#search(`>${title}`, timeout);
            await rows.first().waitFor({ timeout });
        });
        const count = await this.#rows(title).count();
        await this.hidePalette();
        return count > 0;
    }

    /** Opens a file of the workspace; a text file can then be typed into. @param {string} name */
    async openFile(name) {
        await this.#pick(name, path.basename(name));
        await this.page.locator(`.tab.active[data-resource-name="${path.basename(name)}"]`).waitFor();
        if (name.endsWith(".ipynb")) {
            // The editor lays a notebook over its group, not inside it.
            await this.page.locator(".notebookOverlay .cell").first().waitFor();
            return;
        }
        await this.page.locator(".editor-group-container.active .monaco-editor .view-line").first().waitFor();
        // An editor that takes the focus later would close the next quick input.
        await this.textFocus();
    }

    /** Clicks the row of an open pick, by its label. @param {string | RegExp} label */
    async choose(label) {
        await this.#rows(label).first().click();
    }

    /** Puts the cursor at the start of a line of the active text editor, counted from 1. @param {number} number */
    async goToLine(number) {
        await this.#pick(`:${number}`, new RegExp(`line ${number}\\b`));
        await this.textFocus();
        await this.statusItem(new RegExp(`Ln ${number}, `)).waitFor();
    }

    /** Waits until a text editor has the focus: it then receives the keys. */
    async textFocus() {
        await this.page.locator(".part.editor .monaco-editor.focused").waitFor();
    }

    /** Shows the palette, ready for a command. */
    async showPalette() {
        await this.#repeat((timeout) => this.#openPalette(timeout));
    }

    /** Closes the palette. */
    async hidePalette() {
        await this.pressUntil("Escape", async () => !(await this.#isPaletteShown()), "the palette to close");
    }

    /**
     * Presses a key, unless `done` already holds, and repeats it until `done` holds. Only for keys that are harmless twice.
     * @param {string} key @param {() => Promise<boolean>} done @param {string} what
     */
    async pressUntil(key, done, what) {
        if (await done()) return;
        await this.#repeat(async (timeout) => {
            await this.page.keyboard.press(key);
            await until(done, what, timeout);
        });
    }

    get #input() {
        return this.page.locator(".quick-input-widget input.input");
    }

    /** @param {string | RegExp} label */
    #rows(label) {
        const name = this.page.locator(".label-name").getByText(label, { exact: true });
        return this.page.locator(".quick-input-list .monaco-list-row").filter({ has: name });
    }

    /**
     * Types into the quick input, `>` before a command, `:` before a line, else a file's name, and clicks the row.
     * @param {string} text @param {string | RegExp} label
     */
    async #pick(text, label) {
        await this.#repeat(async (timeout) => {
            await this.#search(text, timeout);
            await this.#rows(label).first().click({ timeout, trial: true });
        });
        // Once: a click that was sent cannot be taken back, however long a busy window takes to say that it arrived.
        await this.#rows(label).first().click({ timeout: TIMEOUT });
        const accepted = async () => !(await this.#input.isVisible()) || (await this.#input.inputValue()) !== text;
        await until(accepted, `the quick input to accept ${text}`);
    }

    /** @param {string} text @param {number} timeout */
    async #search(text, timeout) {
        await this.#openPalette(timeout);
        await this.#input.fill(text, { timeout });
    }

    /** One attempt. F1 while the palette is shown does nothing. @param {number} timeout */
    async #openPalette(timeout) {
        if (await this.#isPaletteShown()) return;
        await this.page.keyboard.press("F1");
        await until(() => this.#isPaletteShown(), "the palette to open", timeout);
    }

    async #isPaletteShown() {
        return (await this.#input.isVisible()) && (await this.#input.inputValue()).startsWith(">");
    }

    /** Repeats `attempt`, which clicks nothing, until it does not time out. @param {(timeout: number) => Promise<void>} attempt */
    async #repeat(attempt) {
        const end = performance.now() + TIMEOUT;
        for (let timeout = FIRST_ATTEMPT; ; timeout *= 2) {
            try {
                return await attempt(timeout);
            } catch (error) {
                if (!(error instanceof errors.TimeoutError) || performance.now() > end) throw error;
            }
        }
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

function startParameters(workspaceFile, workspace) {
    if (workspaceFile === null) return { ew: "true" };
    return workspaceFile === undefined ? { folder: workspace.path } : { workspace: workspace.file(workspaceFile) };
}

/** The tabs that the editor has saved, as text. Runs in its page. */
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
