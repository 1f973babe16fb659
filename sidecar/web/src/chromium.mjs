import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { Failure } from "./failure.mjs";

// Of Debian and Ubuntu, then of Google.
const programs = ["/usr/lib/chromium/chromium", "/usr/lib/chromium/chromium-headless-shell", "/usr/bin/chromium",
                  "/usr/bin/chromium-headless-shell", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const maxMessageBytes = 64 << 20;
const maxStderr = 2000;

// Of its updates, its logins and its look for a portal, which no switch turns off. The first one does not exist.
const ownHosts = ["login.invalid", "clients*.google.com", "update.googleapis.com", "safebrowsing.googleapis.com",
                  "connectivitycheck.gstatic.com"];

// What Chromium would ask its maker for by itself is off: each host would be asked about in the page's name.
const switches = [
    "--headless", "--remote-debugging-pipe", "--no-first-run", "--no-default-browser-check", "--disable-gpu", "--mute-audio",
    "--disable-dev-shm-usage", "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-default-apps", "--disable-extensions", "--disable-domain-reliability", "--disable-breakpad", "--no-pings",
    "--disable-client-side-phishing-detection", "--disable-field-trial-config", "--metrics-recording-only", "--disable-quic",
    "--password-store=basic", "--hide-scrollbars", "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-features=Translate,OptimizationHints,MediaRouter,AutofillServerCommunication",
    // It can make no user namespaces here: the sandbox of the tool server is the only one.
    "--no-sandbox",
];

/** Chromium with an empty profile, driven by its DevTools protocol over a pipe. end() must be awaited. */
export class Chromium {
    #child;
    #profile;
    #received = Buffer.alloc(0);
    #stderr = "";
    #answers = new Map();
    #listeners = [];
    #lastId = 0;
    #over; // a Failure

    /** Throws a Failure where there is no Chromium. */
    static async start(more = []) {
        const program = programs.find((each) => existsSync(each));
        if (program === undefined) throw new Failure("browse needs Chromium: install Debian's package chromium");
        const browser = new Chromium();
        browser.#profile = await mkdtemp(path.join(tmpdir(), "browse-"));
        browser.#spawn(program, [...switches, ...networkSwitches(), `--user-data-dir=${browser.#profile}`, ...more, "about:blank"]);
        return browser;
    }

    #spawn(program, args) {
        const child = spawn(program, args, { detached: true, stdio: ["ignore", "ignore", "pipe", "pipe", "pipe"] });
        this.#child = child;
        child.stderr.on("data", (bytes) => (this.#stderr = (this.#stderr + bytes).slice(-maxStderr)));
        child.stdio[4].on("data", (bytes) => this.#receive(bytes));
        for (const stream of child.stdio) stream?.on("error", () => {}); // the end says it
        child.on("error", (error) => this.#fail(`Chromium did not start: ${error.message}`));
        child.on("close", () => this.#fail(`Chromium ended. ${this.#stderr.trim()}`));
    }

    #fail(why) {
        this.#over ??= new Failure(why);
        for (const { reject } of this.#answers.values()) reject(this.#over);
        this.#answers.clear();
    }

    #receive(bytes) {
        this.#received = Buffer.concat([this.#received, bytes]);
        for (let end; (end = this.#received.indexOf(0)) >= 0; this.#received = this.#received.subarray(end + 1)) {
            this.#take(JSON.parse(this.#received.subarray(0, end).toString()));
        }
        if (this.#received.length > maxMessageBytes) {
            this.#fail("Chromium sent more than fits");
            this.#kill();
        }
    }

    #take({ id, result, error, method, params, sessionId }) {
        const waiting = this.#answers.get(id);
        if (waiting !== undefined) {
            this.#answers.delete(id);
            if (error) waiting.reject(new Failure(`Chromium: ${error.message}`));
            else waiting.resolve(result);
        }
        if (method !== undefined) this.#listeners.forEach((listen) => listen(method, params, sessionId));
    }

    /** A command of the protocol; its result. Throws a Failure. */
    send(method, params = {}, sessionId = undefined) {
        if (this.#over) return Promise.reject(this.#over);
        const id = ++this.#lastId;
        return new Promise((resolve, reject) => {
            this.#answers.set(id, { resolve, reject });
            this.#child.stdio[3].write(JSON.stringify({ id, method, params, sessionId }) + "\0");
        });
    }

    /** `listen(method, params, sessionId)` is called for each event. */
    onEvent(listen) {
        this.#listeners.push(listen);
    }

    #kill() {
        try {
            process.kill(-this.#child.pid, "SIGKILL");
        } catch {
            // it has ended, or never started
        }
    }

    async end() {
        this.#kill();
        if (this.#child.pid !== undefined && this.#child.exitCode === null && this.#child.signalCode === null) {
            await new Promise((resolve) => this.#child.once("exit", resolve));
        }
        await rm(this.#profile, { recursive: true, force: true, maxRetries: 5 });
    }
}

function networkSwitches() {
    const proxy = process.env.HTTPS_PROXY ?? "http://127.0.0.1:3128";
    // Names of this machine go through the proxy too, which refuses them. Chromium's own hosts go past it: nowhere.
    return [`--proxy-server=${proxy}`, `--proxy-bypass-list=<-loopback>;${ownHosts.join(";")}`, `--gaia-url=http://${ownHosts[0]}`];
}
