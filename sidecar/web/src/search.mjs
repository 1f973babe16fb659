import { Failure } from "./failure.mjs";
import { get, textOf } from "./http.mjs";
import { pageAddress } from "./address.mjs";

const maxAnswerBytes = 4 << 20;
const defaultResults = 10;

/** The engines by the variable that chooses one: what is asked, where results are in the answer, why it refuses. */
const engines = {
    // docs.searxng.org/dev/search_api.html
    SEARXNG_URL: {
        request: (instance, query) => ({
            url: `${instance.replace(/\/+$/, "")}/search`,
            parameters: { q: query, format: "json" },
        }),
        results: (answer) => answer.results,
        snippet: "content",
        form: "SearXNG's JSON: expected an object with results",
        refusals: { 403: "refuses JSON (403): its settings.yml needs json among search.formats" },
    },
    // api-dashboard.search.brave.com/documentation
    BRAVE_API_KEY: {
        request: (key, query, most) => ({
            url: process.env.BRAVE_API_URL || "https://api.search.brave.com/res/v1/web/search",
            parameters: { q: query, count: String(Math.min(most, 20)), text_decorations: "false" },
            headers: { "x-subscription-token": key },
        }),
        // Without a result there is no `web`.
        results: (answer) => (answer.type === "search" ? (answer.web?.results ?? []) : undefined),
        snippet: "description",
        form: "Brave's JSON: expected an object of type search",
        refusals: {
            401: "does not accept the key in BRAVE_API_KEY (401)",
            403: "does not accept the key in BRAVE_API_KEY (403)",
            422: "does not accept the key in BRAVE_API_KEY, or the query (422)",
            429: "has had too many searches with this key (429)",
        },
    },
};

/** Asks the search engine that the environment names. */
export async function search({ query, max_results: most = defaultResults }, signal) {
    const chosen = Object.keys(engines).find((variable) => process.env[variable]);
    if (chosen === undefined) {
        throw new Failure(
            "no search engine is configured: give the server `web` the address of a SearXNG instance, " +
                '"env": {"SEARXNG_URL": "https://searx.example.org"}, or a key of Brave\'s, ' +
                '"env": {"BRAVE_API_KEY": "${secret:BRAVE_API_KEY}"}',
        );
    }
    const engine = engines[chosen];
    const { url: address, parameters, headers } = engine.request(process.env[chosen], query, most);
    const url = pageAddress(address);
    url.search = new URLSearchParams(parameters).toString();
    const answer = await get(url.href, { maxBytes: maxAnswerBytes, accept: "application/json", headers, signal });
    if (answer.status !== 200) {
        const refusal = engine.refusals[answer.status] ?? `answered ${answer.status} ${answer.statusText}`.trim();
        throw new Failure(`${url.host} ${refusal}`);
    }
    return { results: resultsOf(engine, textOf(answer.body, answer.type, answer.cut), url.host).slice(0, most) };
}

function resultsOf(engine, text, host) {
    let results;
    try {
        results = engine.results(JSON.parse(text));
    } catch {
        // said below
    }
    if (!Array.isArray(results)) {
        throw new Failure(`${host} did not answer with ${engine.form}`);
    }
    const textual = (value) => (typeof value === "string" ? value.replace(/\s+/g, " ").trim() : "");
    return results
        .map((found) => ({ title: textual(found.title), url: textual(found.url), snippet: textual(found[engine.snippet]) }))
        .filter(({ url }) => /^https?:\/\//i.test(url));
}
