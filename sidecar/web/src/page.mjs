import { convert } from "./convert.mjs";
import { Failure } from "./failure.mjs";
import { get, textOf } from "./http.mjs";

export const maxPageBytes = 5 << 20;
export const defaultChars = 50_000;

const accept = "text/html, application/xhtml+xml, text/plain;q=0.9, application/json;q=0.9, */*;q=0.5";
const isHtml = /^(text\/html|application\/xhtml\+xml)\b/i;
const isText = /^(text\/|application\/([\w.+-]*\+)?(json|xml|yaml|toml|javascript|x-ndjson|x-sh|rtf)\b)/i;

/** What a page is as the answer of a tool: title, url, text, truncated. */
export async function fetchPage({ url: address, max_chars: maxChars = defaultChars }, signal) {
    const answer = await get(address, { maxBytes: maxPageBytes, accept, signal });
    const type = answer.type.trim() || guessed(answer.body);
    if (answer.status < 200 || answer.status > 299) {
        throw new Failure(`${answer.url} answered ${answer.status} ${answer.statusText}`.trim());
    }
    if (isHtml.test(type)) {
        const page = await convert(textOf(answer.body, type, answer.cut), answer.url.href, signal);
        return answerOf({ ...page, url: answer.url.href }, maxChars, answer.cut);
    }
    if (!isText.test(type)) {
        throw new Failure(`${answer.url} is ${type.split(";")[0]}, of which no text is made: ` +
                          "fetch is for HTML, plain text, JSON and the like");
    }
    return answerOf({ title: "", url: answer.url.href, text: textOf(answer.body, type, answer.cut) }, maxChars, answer.cut);
}

/** A page in the form in which tools answer, with its text cut to `maxChars` characters. */
export function answerOf({ title, url, text }, maxChars, cut) {
    const kept = [...text.slice(0, 2 * maxChars)].slice(0, maxChars).join(""); // no half of a character
    return { title, url, text: kept, truncated: cut || kept.length < text.length };
}

function guessed(body) {
    return /^\s*(<!doctype html|<html)/i.test(body.subarray(0, 512).toString("latin1")) ? "text/html"
        : body.subarray(0, 512).includes(0) ? "application/octet-stream" : "text/plain";
}
