import { Readability } from "@mozilla/readability";
import { gfm } from "@joplin/turndown-plugin-gfm";
import { parseHTML } from "linkedom";
import TurndownService from "turndown";

const maxElements = 200_000;
// linkedom's tables have no rows, by which the plugin knows a table of data. Those of a table in a cell are not this one's.
Object.defineProperty(Object.getPrototypeOf(parseHTML("<html></html>").document.createElement("table")), "rows", {
    get() {
        return [...this.querySelectorAll("tr")].filter((row) => row.closest("table") === this);
    },
});

// In Markdown they say nothing to a reader.
const leftOut = "script, style, template, iframe, object, embed, svg, canvas, dialog, button, input, select, textarea";

/**
 * A page as Markdown: its main content where Readability finds one, else all of its body. Scripts are not run. Throws an
 * Error for a page that is too large or too deeply nested for it.
 * @returns {{title: string, text: string}}
 */
export function markdownOf(html, address) {
    const main = new Readability(parsed(html, address), {
        serializer: (element) => element,
        keepClasses: true, // of code: its language
        maxElemsToParse: maxElements,
    }).parse();
    const text = main ? written(main.content) : "";
    if (text !== "") return { title: oneLine(main.title ?? ""), text };
    const document = parsed(html, address);
    return { title: oneLine(document.title ?? ""), text: document.body ? written(document.body) : "" };
}

function parsed(html, address) {
    const whole = /<(html|body|head)[\s>]/i.test(html) ? html : `<html><body>${html}</body></html>`;
    const { document } = parseHTML(whole);
    const base = baseOf(document, address);
    Object.defineProperty(document, "baseURI", { value: base });
    Object.defineProperty(document, "documentURI", { value: address });
    for (const [selector, name, schemes] of [["a[href]", "href", /^(https?|mailto):/], ["img[src]", "src", /^https?:/]]) {
        for (const element of document.querySelectorAll(selector)) {
            const target = absolute(element.getAttribute(name), base);
            if (target !== undefined && schemes.test(target)) element.setAttribute(name, target);
            else element.removeAttribute(name);
        }
    }
    return document;
}

function baseOf(document, address) {
    const named = document.querySelector("base[href]")?.getAttribute("href");
    return (named && absolute(named, address)) || address;
}

function absolute(link, base) {
    try {
        return new URL(link, base).href;
    } catch {
        return undefined;
    }
}

function written(element) {
    for (const each of element.querySelectorAll(leftOut)) each.remove();
    for (const block of element.querySelectorAll("pre")) {
        if (block.firstElementChild?.nodeName === "CODE") continue;
        const code = element.ownerDocument.createElement("code"); // or its text would be prose, and escaped
        code.textContent = block.textContent;
        block.replaceChildren(code);
    }
    const service = new TurndownService({ headingStyle: "atx", codeBlockStyle: "fenced", bulletListMarker: "-" });
    service.use(gfm);
    const text = service.turndown(element).replace(/[\x00-\x08\x0b-\x1f\x7f]/g, "");
    return text.replace(/[ \t]+$/gm, "").replace(/\n{3,}/g, "\n\n").trim();
}

function oneLine(text) {
    return text.replace(/\s+/g, " ").trim();
}
