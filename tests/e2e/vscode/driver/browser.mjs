// `sharedBrowser` is the browser of all scenarios in a file, with one address for the editor, behind which is the
// server of the scenario that runs. So the fetched and compiled workbench, most of the cost of opening a window, is
// reused. A window's storage is cleared before the next one opens.
import { mkdtemp, rm } from "node:fs/promises";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { chromium } from "playwright-core";
import { atEnd } from "./end.mjs";
import { TIMEOUT } from "./wait.mjs";

const PROGRAM = process.env.CELLGATE_E2E_BROWSER ?? "/usr/bin/chromium";
const FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
];

let browser;
atEnd(async () => (await browser)?.end());

/** The browser of this process's tests. */
export function sharedBrowser() {
    browser ??= Browser.start();
    return browser;
}

class Browser {
    static async start() {
        const started = new Browser(await mkdtemp(path.join(tmpdir(), "cge-browser-")));
        await started.#listen();
        await started.#launch();
        return started;
    }

    /** @param {string} root */
    constructor(root) {
        this.root = root;
    }

    async #listen() {
        const sockets = new Set();
        this.proxy = createServer((outside) => {
            const inside = connect(this.target);
            for (const [socket, other] of [[outside, inside], [inside, outside]]) {
                sockets.add(socket);
                // Either end closes the other; an error is an end.
                socket.on("error", () => {}).on("close", () => (sockets.delete(socket), other.destroy()));
                socket.pipe(other);
            }
        });
        this.closeConnections = () => sockets.forEach((socket) => socket.destroy());
        await new Promise((resolve) => this.proxy.listen(0, "127.0.0.1", resolve));
        this.address = `http://127.0.0.1:${this.proxy.address().port}`;
    }

    async #launch() {
        const environment = { HOME: this.root, XDG_RUNTIME_DIR: this.root, PATH: process.env.PATH, LANG: "C.UTF-8", TZ: "UTC" };
        this.context = await chromium.launchPersistentContext(path.join(this.root, "profile"), {
            executablePath: PROGRAM,
            headless: true,
            viewport: { width: 1280, height: 800 },
            args: FLAGS,
            env: environment,
        });
        await this.context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: this.address });
        this.context.setDefaultTimeout(TIMEOUT);
    }

    /** A window that remembers nothing. @param {string} socket where the editor's server listens */
    async window(socket) {
        this.target = socket;
        const page = await this.context.newPage();
        const session = await this.context.newCDPSession(page);
        await session.send("Storage.clearDataForOrigin", { origin: this.address, storageTypes: "all" });
        await session.detach();
        await this.context.clearCookies();
        return page;
    }

    /** Closes the window, and all that it opened. */
    async closeWindows() {
        // The browser would end with its last page.
        const kept = await this.context.newPage();
        await Promise.all(this.context.pages().filter((page) => page !== kept).map((page) => page.close()));
        this.closeConnections();
    }

    async end() {
        await this.context.close();
        this.closeConnections();
        this.proxy.close();
        await rm(this.root, { recursive: true, force: true });
    }
}
