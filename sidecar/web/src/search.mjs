import { Failure } from "./failure.mjs";
import { get, textOf } from "./http.mjs";
import { pageAddress } from "./address.mjs";

const maxAnswerBytes = 4 << 20;
const defaultResults = 10;

/** Asks the SearXNG instance at SEARXNG_URL by its Search API (docs.searxng.org/dev/search_api.html). */
export async function search({ query, max_results: most = defaultResults }, signal) {
    const instance = process.env.SEARXNG_URL;
    if (!instance) {
        throw new Failure("no search engine is configured: give the server `web` the address of a SearXNG instance, " +
                          '"env": {"SEARXNG_URL": "https://searx.example.org"}');
    }
    const url = pageAddress(`${instance.replace(/\/+$/, "")}/search`);
    url.search = new URLSearchParams({ q: query, format: "json" }).toString();
    const answer = await get(url.href, { maxBytes: maxAnswerBytes, accept: "application/json", signal });
    if (answer.status === 403) {
        throw new Failure(`${url.host} refuses JSON (403): its settings.yml needs json among search.formats`);
    }
    if (answer.status !== 200) {
        throw new Failure(`${url.host} answered ${answer.status} ${answer.statusText}`.trim());
    }
    return { results: resultsOf(textOf(answer.body, answer.type, answer.cut), url.host).slice(0, most) };
}

function resultsOf(text, host) {
    let results;
    try {
        ({ results } = JSON.parse(text));
    } catch {
        // said below
    }
    if (!Array.isArray(results)) {
        throw new Failure(`${host} did not answer with SearXNG's JSON: expected an object with results`);
    }
    const textual = (value) => (typeof value === "string" ? value.replace(/\s+/g, " ").trim() : "");
    return results
        .map(({ title, url, content }) => ({ title: textual(title), url: textual(url), snippet: textual(content) }))
        .filter(({ url }) => /^https?:\/\//i.test(url));
}
