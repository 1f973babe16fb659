import { browsePage } from "./browse.mjs";
import { defaultChars, fetchPage } from "./page.mjs";
import { search } from "./search.mjs";

const url = {
    type: "string",
    format: "uri",
    pattern: "^[Hh][Tt][Tt][Pp][Ss]?://",
    maxLength: 8192,
    description: "Address of the page: http or https",
};
const maxChars = {
    type: "integer",
    minimum: 1,
    maximum: 2_000_000,
    default: defaultChars,
    description: "How much of the text to return",
};
const page = {
    title: { type: "string" },
    url: { type: "string", description: "After redirects" },
    text: { type: "string", description: "The main content, as Markdown" },
    truncated: { type: "boolean", description: "Whether the page has more text than this" },
};
const failed = {
    type: "array",
    items: { type: "string" },
    description: "Hosts from which something was not loaded, and why",
};
const found = object({ title: { type: "string" }, url: { type: "string" }, snippet: { type: "string" } },
                     ["title", "url", "snippet"]);
const annotations = { readOnlyHint: true, openWorldHint: true };

function object(properties, required) {
    return { type: "object", properties, required, additionalProperties: false };
}

function pageText({ title, url: address, text, truncated, failed: missing = [] }) {
    const none = "(The page has no text. One that is made by scripts is read by `browse`.)";
    const parts = [title && `# ${title}`, address, text || none];
    if (truncated) parts.push("(Cut here: the page has more text.)");
    if (missing.length > 0) parts.push(`(Not loaded: ${missing.join(", ")})`);
    return parts.filter(Boolean).join("\n\n");
}

function resultsText({ results }) {
    const lines = results.map(({ title, url: address, snippet }, i) =>
        [`${i + 1}. ${title}`, address, snippet].filter(Boolean).join("\n   "));
    return lines.join("\n") || "No results.";
}

/** The tools: what they are to a client, what does them (`run`), and how their answer reads (`text`). */
export const tools = [
    {
        name: "fetch",
        title: "Fetch a page",
        description: "Gets a web page, without running its scripts, and returns its main content as Markdown. Plain text " +
                     "and JSON are returned as they are.",
        inputSchema: object({ url, max_chars: maxChars }, ["url"]),
        outputSchema: object(page, Object.keys(page)),
        annotations,
        run: fetchPage,
        text: pageText,
    },
    {
        name: "browse",
        title: "Open a page in a browser",
        description: "Opens a web page in headless Chromium, lets its scripts run, and returns its main content as Markdown, " +
                     "with a screenshot if wanted. For pages of which `fetch` returns no text. The user is asked about each " +
                     "host that a page needs.",
        inputSchema: object({
            url,
            wait_for: { type: "string", minLength: 1, maxLength: 1000, description: "CSS selector of an element to wait for" },
            screenshot: { type: "boolean", default: false, description: "Whether to return a picture (PNG) of the window too" },
        }, ["url"]),
        outputSchema: object({ ...page, failed }, [...Object.keys(page), "failed"]),
        annotations,
        run: browsePage,
        text: pageText,
    },
    {
        name: "search",
        title: "Search the web",
        description: "Searches the web through the SearXNG instance that the user configured, and returns titles, " +
                     "addresses and snippets.",
        inputSchema: object({
            query: { type: "string", minLength: 1, maxLength: 2000 },
            max_results: { type: "integer", minimum: 1, maximum: 100, default: 10 },
        }, ["query"]),
        outputSchema: object({ results: { type: "array", items: found } }, ["results"]),
        annotations,
        run: search,
        text: resultsText,
    },
];
