// Markup of a cell in a frame. Three walls, each of which holds without the others: the frame's sandbox lets no script
// run, submits nothing and opens nothing; the frame's policy lets nothing be requested; and whatever names something
// outside is taken out before, also because a policy does not keep a browser from looking up a host's name.
//
// The frame shares our origin so that its height can be measured and a click on a link be heard: without scripts, nothing
// in it can make use of that.

import type { Markup } from "../src/results/messages";
import { element } from "./elements";

const policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; media-src data:";

const unwelcome =
    "script, noscript, link, meta, base, title, iframe, frame, frameset, object, embed, applet, portal, fencedframe, template";
// Attributes that name something to be fetched or gone to.
const references = [
    "action", "archive", "attributionsrc", "background", "cite", "classid", "codebase", "data", "formaction", "href",
    "imagesrcset", "itemid", "longdesc", "manifest", "ping", "poster", "profile", "src", "srcdoc", "srcset", "usemap", "xlink:href",
];
const link = "data-cellgate-href";

const style = `
    :root { color-scheme: light dark; }
    html, body { margin: 0; padding: 0; overflow-y: hidden; }
    body { display: flow-root; color: var(--foreground); font: var(--font); }
    table { border-collapse: collapse; }
    th, td { padding: 2px 8px; text-align: right; }
    thead { border-bottom: 1px solid currentcolor; }
    tbody tr:nth-child(odd) { background: color-mix(in srgb, currentcolor 6%, transparent); }
    img, svg { max-width: 100%; }
    pre, code { font-family: var(--mono); }
    [${link}] { color: var(--link); text-decoration: underline; cursor: pointer; }
`;

export function hasScripts(html: string): boolean {
    const parsed = parse(html);
    const handlers = [...parsed.querySelectorAll("*")].some((each) => each.getAttributeNames().some((name) => /^on/i.test(name)));
    return handlers || parsed.querySelector("script, iframe, object, embed") !== null;
}

export function frameOf(html: string, language: Markup, openLink: (href: string) => void): HTMLIFrameElement {
    const frame = element("iframe", "cellgate-frame");
    frame.title = { html: "HTML put out by the cell", svg: "Drawing put out by the cell", markdown: "Text put out by the cell" }[language];
    frame.setAttribute("sandbox", "allow-same-origin");
    frame.setAttribute("referrerpolicy", "no-referrer");
    frame.srcdoc = `<!DOCTYPE html><html><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${policy}">
<meta http-equiv="x-dns-prefetch-control" content="off"><style>${themeOf(document)}${style}</style></head><body>${harmless(html)}</body></html>`;
    frame.addEventListener("load", () => attach(frame, openLink));
    return frame;
}

/** In a document of its own that loads and runs nothing. */
function parse(html: string): Document {
    return new DOMParser().parseFromString(html, "text/html");
}

function harmless(html: string): string {
    const parsed = parse(html);
    for (const each of parsed.querySelectorAll(unwelcome)) each.remove();
    for (const each of parsed.querySelectorAll("*")) {
        for (const name of each.getAttributeNames()) {
            const value = each.getAttribute(name) ?? "";
            if (/^on/i.test(name) || name === link || name === "target") each.removeAttribute(name);
            if (!references.includes(name.toLowerCase())) continue;
            // What is in the output itself may stay.
            if (/^\s*data:(image|font|audio|video)\//i.test(value) || (value.startsWith("#") && each.localName !== "a")) continue;
            each.removeAttribute(name);
            if (each.localName === "a" && /^(xlink:)?href$/i.test(name)) {
                each.setAttribute(link, value);
                each.setAttribute("role", "link");
                each.setAttribute("tabindex", "0");
                each.setAttribute("title", value);
            }
        }
    }
    return [...parsed.head.querySelectorAll("style")].map((each) => each.outerHTML).join("") + parsed.body.innerHTML;
}

function attach(frame: HTMLIFrameElement, openLink: (href: string) => void): void {
    const inner = frame.contentDocument;
    if (!inner?.body) return;
    const follow = (event: Event) => {
        const target = (event.target as Element | null)?.closest(`[${link}]`);
        const href = target?.getAttribute(link);
        if (!href) return;
        event.preventDefault();
        if (href.startsWith("#")) inner.getElementById(href.slice(1))?.scrollIntoView();
        else openLink(href);
    };
    inner.addEventListener("click", follow);
    inner.addEventListener("keydown", (event) => {
        if (event.key === "Enter") follow(event);
    });
    // The notebook scrolls by what it hears itself.
    inner.addEventListener("wheel", (event) => frame.dispatchEvent(new WheelEvent("wheel", { ...wheelOf(event), bubbles: true })));
    const fit = () => {
        frame.style.height = `${Math.ceil(inner.body.getBoundingClientRect().height)}px`;
    };
    new ResizeObserver(fit).observe(inner.body);
    fit();
}

function wheelOf({ deltaX, deltaY, deltaZ, deltaMode }: WheelEvent): WheelEventInit {
    return { deltaX, deltaY, deltaZ, deltaMode };
}

/** The editor's colours and fonts, as a frame does not inherit them. */
function themeOf({ documentElement }: Document): string {
    const computed = getComputedStyle(documentElement);
    const variable = (name: string, otherwise: string) => computed.getPropertyValue(name).replace(/[<>{};]/g, "") || otherwise;
    return `:root {
        --foreground: ${variable("--vscode-editor-foreground", "inherit")};
        --link: ${variable("--vscode-textLink-foreground", "inherit")};
        --font: ${variable("--vscode-font-size", "13px")} ${variable("--vscode-font-family", "sans-serif")};
        --mono: ${variable("--vscode-editor-font-family", "monospace")};
    }`;
}
