// `frameOf` shows a cell's markup in a frame behind four barriers: nodes that refer to nothing outside (`clean.ts`);
// the frame's sandbox, without scripts, forms and popups; the frame's policy, which refuses all requests; and an outer
// frame with the same policy, which prevents navigation by any click.
//
// The frames have the renderer's origin, so that nodes can be inserted, heights measured and clicks on links observed.
// Without scripts nothing inside can use that.

import type { Markup } from "../src/results/messages";
import { cleaned, link } from "./clean";
import { element } from "./elements";

const policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; media-src data:";

const outerStyle = `
    :root { color-scheme: light dark; }
    html, body { margin: 0; padding: 0; height: 100%; overflow: hidden; }
    iframe { display: block; width: 100%; height: 100%; border: 0; background: transparent; }
`;

const innerStyle = `
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

export function frameOf(html: string, language: Markup, openLink: (href: string) => void): HTMLIFrameElement {
    const title = { html: "HTML put out by the cell", svg: "Drawing put out by the cell", markdown: "Text put out by the cell" }[language];
    const outer = emptyFrame(outerStyle, (around) => {
        const inner = emptyFrame(`${themeOf(document)}${innerStyle}`, (page) => fill(page, cleaned(html), outer, openLink));
        inner.title = title;
        around.body.append(inner);
    });
    outer.className = "cellgate-frame";
    outer.title = title;
    return outer;
}

/** `filled` is given its document once. */
function emptyFrame(style: string, filled: (page: Document) => void): HTMLIFrameElement {
    const frame = element("iframe");
    frame.setAttribute("sandbox", "allow-same-origin");
    frame.setAttribute("referrerpolicy", "no-referrer");
    frame.srcdoc = `<!DOCTYPE html><html><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${policy}">
<meta http-equiv="x-dns-prefetch-control" content="off"><style>${style}</style></head><body></body></html>`;
    frame.addEventListener("load", () => frame.contentDocument && filled(frame.contentDocument), { once: true });
    return frame;
}

function fill(page: Document, content: DocumentFragment, frame: HTMLIFrameElement, openLink: (href: string) => void): void {
    const { body } = page;
    const follow = (event: Event) => {
        const target = event.target as Element | null;
        if (target?.closest("a, area")) event.preventDefault();
        const href = target?.closest(`[${link}]`)?.getAttribute(link);
        if (!href) return;
        event.preventDefault();
        if (href.startsWith("#")) page.getElementById(href.slice(1))?.scrollIntoView();
        else openLink(href);
    };
    page.addEventListener("click", follow, { capture: true });
    page.addEventListener("auxclick", (event) => event.preventDefault(), { capture: true });
    page.addEventListener("keydown", (event) => {
        if (event.key === "Enter") follow(event);
    });
    // The notebook scrolls by what it hears itself.
    page.addEventListener("wheel", (event) => frame.dispatchEvent(new WheelEvent("wheel", { ...wheelOf(event), bubbles: true })));
    const fit = () => {
        frame.style.height = `${Math.ceil(body.getBoundingClientRect().height)}px`;
    };
    body.append(content);
    new ResizeObserver(fit).observe(body);
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
