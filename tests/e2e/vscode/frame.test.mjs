// These tests try the frame that shows a cell's markup, in a browser without an editor: it makes no connection,
// whatever it contains and whatever is clicked, and each barrier holds alone. The control is the same markup in a frame
// that has only the sandbox and the policy.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { after, test } from "node:test";
import { sharedBrowser } from "./driver/browser.mjs";
import { end } from "./driver/end.mjs";
import { REPOSITORY } from "./driver/installation.mjs";
import { listener } from "./driver/listener.mjs";
import { until } from "./driver/wait.mjs";

after(end);

const EXTENSION = process.env.CELLGATE_E2E_EXTENSION ?? path.join(REPOSITORY, "editors", "vscode");

/** Markup that gets a connection by being shown, or by a click on what has the id `aim`. */
const hostile = {
    "a connection ahead": (there) => `<link rel="preconnect" href="${there}"><p id="aim">text</p>`,
    "a connection ahead, by text that is read twice": (there) =>
        `<p id="aim">text</p><form><math><mtext></form><form><mglyph><style></math><link rel=preconnect href="${there}">`,
    "a link": (there) => `<a href="${there}" id="aim">x</a>`,
    "a link, by text that is read twice": (there) =>
        `<form><math><mtext></form><form><mglyph><style></math><a href="${there}" id="aim">x</a>`,
    "a link that a drawing makes later": (there) =>
        `<svg width="90" height="30"><a><set attributeName="href" to="${there}"/><rect id="aim" width="90" height="30"/></a></svg>`,
    "a link that a drawing animates": (there) =>
        `<svg width="90" height="30"><a><animate attributeName="href" values="${there}" fill="freeze"/><rect id="aim" width="90" height="30"/></a></svg>`,
    "a link of a drawing": (there) =>
        `<svg width="90" height="30"><a xlink:href="${there}"><rect id="aim" width="90" height="30"/></a></svg>`,
    "a picture's area": (there) =>
        `<map name="m"><area shape="rect" coords="0,0,90,90" href="${there}"></map><img id="aim" usemap="#m" width="90" height="90"
            src="data:image/svg+xml,&lt;svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/&gt;">`,
    "a link in the frame of the same name": (there) => `<base target="_self"><a href="${there}" id="aim">x</a>`,
};

/** A page on this machine with what shows markup. @returns {Promise<{page: import("playwright-core").Page, close: () => void}>} */
async function pageWithFrames() {
    const esbuild = await import(pathToFileURL(path.join(EXTENSION, "node_modules", "esbuild", "lib", "main.js")).href);
    const { outputFiles } = await esbuild.default.build({
        entryPoints: [path.join(EXTENSION, "renderer", "frame.ts")],
        bundle: true, write: false, format: "iife", globalName: "frames_", logLevel: "error",
    });
    const server = createServer((request, response) => {
        response.setHeader("content-type", request.url === "/frame.js" ? "text/javascript" : "text/html");
        response.end(request.url === "/frame.js" ? outputFiles[0].text : "<!DOCTYPE html><body><script src=frame.js></script>");
    });
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
    const browser = await sharedBrowser();
    const page = await browser.context.newPage();
    await page.goto(`http://127.0.0.1:${server.address().port}/`);
    return { page, close: async () => (await page.close(), server.closeAllConnections(), server.close()) };
}

/** Shows markup the way the renderer does, or (`bare`) in a frame with no more than a sandbox and a policy. */
async function show(page, markup, bare) {
    await page.evaluate(([html, isBare]) => {
        document.querySelectorAll("iframe").forEach((each) => each.remove());
        window.opened = [];
        let frame;
        if (isBare) {
            frame = document.createElement("iframe");
            frame.setAttribute("sandbox", "allow-same-origin");
            frame.srcdoc = `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
                ${new DOMParser().parseFromString(html, "text/html").body.innerHTML}`;
        } else {
            frame = window.frames_.frameOf(html, "html", (href) => window.opened.push(href));
        }
        document.body.append(frame);
    }, [markup, bare]);
    return until(async () => {
        for (const frame of page.frames().slice(1).reverse()) {
            // A frame that is on its way has nothing yet.
            const height = () => page.locator("iframe").evaluate((each) => each.clientHeight);
            if ((await frame.locator("text=shown").count().catch(() => 0)) && (await height()) > 30) {
                return frame;
            }
        }
        return undefined;
    }, "the frame's content", 10_000);
}

/** As a user does, in the middle of it; false where there is nothing of that name. */
async function click(page, frame, options = {}) {
    const target = frame.locator("#aim").first();
    const box = (await target.count()) > 0 ? await target.boundingBox() : undefined;
    if (!box) return false;
    await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2, options);
    return true;
}

test("no markup makes a connection, be it shown or clicked", async (t) => {
    const { page, close } = await pageWithFrames();
    t.after(close);
    for (const [name, markup] of Object.entries(hostile)) {
        await t.test(name, async () => {
            const [heard, control] = [await listener(), await listener()];
            const frame = await show(page, `<p>shown</p>${markup(heard.address)}`, false);
            await click(page, frame);
            await click(page, frame, { button: "middle" });
            await click(page, frame, { modifiers: ["Control"] });
            // What could name a host ahead of any request is not there.
            assert.equal(await frame.locator("link, meta[http-equiv=refresh], base, [href], math, form, set, animate").count(), 0);
            // The control comes last: by the time that it was heard, all else would have been.
            const bare = await show(page, `<p>shown</p>${markup(control.address)}`, true);
            await click(page, bare);
            await until(() => control.connections > 0, "the control's connection", 10_000);
            assert.equal(heard.connections, 0);
        });
    }
});

test("a link that was inserted all the same makes no connection, nor does anything else", async (t) => {
    const { page, close } = await pageWithFrames();
    t.after(close);
    const heard = await listener();
    const frame = await show(page, "<p>shown</p>", false);
    await frame.evaluate((address) => {
        document.body.innerHTML = `<a id="aim" href="${address}">x</a><p>shown</p>`;
    }, heard.address);
    assert.ok(await click(page, frame));
    assert.equal(frame.url(), "about:srcdoc");
    // (A browser connects ahead to where a link leads that the mouse is pressed on; so there must be none.)
    // Without what hears the clicks, the frame around it holds it.
    await frame.evaluate((address) => void (location.href = address), heard.address).catch(() => "the browser may end the page before it answers");
    await until(() => frame.url().startsWith("chrome-error:"), () => `the browser's refusal; the frame is at ${frame.url()}`, 10_000);
    assert.deepEqual(heard.paths, []);
});

test("a user's click on a link is reported, and what a drawing and a table need is kept", async (t) => {
    const { page, close } = await pageWithFrames();
    t.after(close);
    const frame = await show(page, `<style>td { color: rgb(1, 2, 3); }</style><p>shown</p><a id="aim" href="https://away.example/x">x</a>
        <table><tr><td>1</td></tr></table><input type="checkbox" id="fold"><label for="fold">fold</label>
        <svg width="40" height="20"><defs><path id="glyph" d="M0 0h9v9z"/><linearGradient id="g"><stop stop-color="red"/></linearGradient></defs>
        <use xlink:href="#glyph" fill="url(#g)"/></svg><img id="dot" src="data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA=">`, false);
    await click(page, frame);
    assert.deepEqual(await page.evaluate("opened"), ["https://away.example/x"]);
    assert.equal(await frame.locator("td").evaluate((cell) => getComputedStyle(cell).color), "rgb(1, 2, 3)");
    assert.ok((await frame.locator("use").evaluate((use) => use.getBoundingClientRect().width)) > 0);
    await until(() => frame.locator("#dot").evaluate((img) => img.naturalWidth === 1), "the picture", 10_000);
    assert.ok(await frame.locator("input[type=checkbox]").isVisible());
});
