import { setTimeout as sleep } from "node:timers/promises";
import { pageAddress } from "./address.mjs";
import { Chromium } from "./chromium.mjs";
import { convert } from "./convert.mjs";
import { Failure } from "./failure.mjs";
import { answerOf, defaultChars, maxPageBytes } from "./page.mjs";

const openLimit = 120_000; // milliseconds for the answer to an address, while a user may be asked about its host
const loadLimit = 30_000; // milliseconds, for all that the page needs
const waitLimit = 30_000; // milliseconds, for the element that is waited for
const quietLimit = 3_000; // milliseconds after that: for a page's scripts to come to rest
const pollEvery = 100;
const viewport = { width: 1280, height: 800, deviceScaleFactor: 1, mobile: false };
const isolatedWorld = "cellgate"; // the page's own scripts see nothing of it

/** A page after its scripts ran: as fetchPage() answers, with the hosts of which something failed, and a picture. */
export async function browsePage({ url: address, wait_for: selector, screenshot = false }, signal) {
    const url = pageAddress(address);
    const browser = await Chromium.start(screenshot ? [] : ["--blink-settings=imagesEnabled=false", "--disable-remote-fonts"]);
    try {
        return await until(signal, browsed(browser, url, selector, screenshot, signal));
    } finally {
        await browser.end();
    }
}

async function browsed(browser, url, selector, screenshot, signal) {
    const tab = await Tab.open(browser);
    await tab.navigate(url.href);
    if (selector === undefined) await tab.loaded();
    else await tab.waitFor(selector);
    const { html, href } = await tab.evaluate(
        `({ html: document.documentElement.outerHTML.slice(0, ${maxPageBytes + 1}), href: location.href })`);
    const images = screenshot ? [{ type: "image", data: await tab.picture(), mimeType: "image/png" }] : [];
    const page = await convert(html.slice(0, maxPageBytes), href, signal);
    return { ...answerOf({ ...page, url: href }, defaultChars, html.length > maxPageBytes), failed: tab.failed(), images };
}

/** The one tab of a browser: what it loads, and what of it failed. */
class Tab {
    #browser;
    #session;
    #frame; // of the page itself
    #seen = new Set(); // what happened to the page: load, networkIdle
    #document; // the loader of the page that navigate() opened
    #answers = new Map(); // to addresses of pages, by their loaders
    #requests = new Map(); // those that go on: their hosts, by their ids
    #failed = new Map(); // by host: why

    static async open(browser) {
        const tab = new Tab();
        tab.#browser = browser;
        browser.onEvent((method, params, session) => session === tab.#session && tab.#listen(method, params));
        await browser.send("Browser.setDownloadBehavior", { behavior: "deny" });
        const { targetId } = await browser.send("Target.createTarget", { url: "about:blank" });
        ({ sessionId: tab.#session } = await browser.send("Target.attachToTarget", { targetId, flatten: true }));
        await tab.#send("Page.enable");
        await tab.#send("Page.setLifecycleEventsEnabled", { enabled: true });
        await tab.#send("Network.enable");
        await tab.#send("Emulation.setDeviceMetricsOverride", viewport);
        tab.#frame = (await tab.#send("Page.getFrameTree")).frameTree.frame.id;
        return tab;
    }

    #send(method, params) {
        return this.#browser.send(method, params, this.#session);
    }

    #listen(method, params) {
        if (method === "Page.lifecycleEvent" && params.frameId === this.#frame) {
            if (params.name === "init") this.#seen.clear();
            this.#seen.add(params.name);
        } else if (method === "Page.javascriptDialogOpening") {
            this.#send("Page.handleJavaScriptDialog", { accept: false }).catch(() => {});
        } else if (method === "Network.requestWillBeSent") {
            this.#requests.set(params.requestId, hostOf(params.request.url));
        } else if (method === "Network.responseReceived" && params.type === "Document") {
            this.#answers.set(params.requestId, params.response);
        } else if (method === "Network.loadingFinished") {
            this.#requests.delete(params.requestId);
        } else if (method === "Network.loadingFailed") {
            const host = this.#requests.get(params.requestId);
            this.#requests.delete(params.requestId);
            const counts = host && !params.canceled && params.blockedReason === undefined;
            if (counts) this.#failed.set(host, reasonOf(params.errorText));
        }
    }

    async navigate(address) {
        const opened = await Promise.race([this.#send("Page.navigate", { url: address }), sleep(openLimit, {})]);
        const { errorText = opened.frameId ? undefined : "no answer", loaderId } = opened;
        if (errorText !== undefined) throw new Failure(`cannot open ${address}: ${reasonOf(errorText)}`);
        this.#document = loaderId;
    }

    /** Until all that the page needs was loaded and its scripts are at rest, or for a time. */
    async loaded() {
        await this.#until(() => this.#seen.has("load"), loadLimit);
        await this.#until(() => this.#seen.has("networkIdle"), quietLimit);
        const { status = 200, statusText = "", url } = this.#answers.get(this.#document) ?? {};
        if (status > 399) throw new Failure(`${url} answered ${status} ${statusText}`.trim());
    }

    async waitFor(selector) {
        const expression = `document.querySelector(${JSON.stringify(selector)}) !== null`;
        const found = await this.#until(async () => this.evaluate(expression), waitLimit);
        if (!found) throw new Failure(`no element ${selector} within ${waitLimit / 1000} seconds`);
    }

    async #until(condition, limit) {
        for (const end = Date.now() + limit; Date.now() < end; await sleep(pollEvery)) {
            if (await condition()) return true;
        }
        return false;
    }

    /** The value of an expression in the page, in a world of its own. A page that is being replaced is waited for. */
    async evaluate(expression) {
        for (let attempt = 1; ; ++attempt) {
            try {
                const world = { frameId: this.#frame, worldName: isolatedWorld };
                const { executionContextId: contextId } = await this.#send("Page.createIsolatedWorld", world);
                const said = await this.#send("Runtime.evaluate", { expression, contextId, returnByValue: true });
                const { text, exception } = said.exceptionDetails ?? {};
                if (text !== undefined) throw new InPage(exception?.description?.split("\n")[0] ?? text);
                return said.result.value;
            } catch (error) {
                if (error instanceof InPage || attempt === 20) throw error;
                await sleep(pollEvery);
            }
        }
    }

    /** What the window shows: a PNG in base64. */
    async picture() {
        return (await this.#send("Page.captureScreenshot", { format: "png" })).data;
    }

    failed() {
        for (const host of this.#requests.values()) {
            if (host && !this.#failed.has(host)) this.#failed.set(host, "no answer yet");
        }
        return [...this.#failed].map(([host, why]) => `${host}: ${why}`).slice(0, 50);
    }
}

class InPage extends Failure {}

function hostOf(address) {
    const url = new URL(address);
    return /^https?:$/.test(url.protocol) ? url.host : "";
}

function reasonOf(errorText) {
    return /TUNNEL_CONNECTION_FAILED|PROXY/.test(errorText) ? "not allowed, or not there" : errorText.replace(/^net::/, "");
}

/** `work`, until it is cancelled. */
function until(signal, work) {
    const cancelled = new Promise((_, reject) =>
        signal?.addEventListener("abort", () => reject(signal.reason), { once: true }));
    return Promise.race([work, cancelled]);
}
