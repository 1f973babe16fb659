import { Failure } from "./failure.mjs";

/** The address of a page: http or https, without a user or a password. Throws a Failure. */
export function pageAddress(text, base) {
    let url;
    try {
        url = new URL(text, base);
    } catch {
        throw new Failure(`expected a URL, found ${JSON.stringify(text.slice(0, 200))}`);
    }
    if (url.protocol !== "http:" && url.protocol !== "https:") {
        throw new Failure(`expected a URL that starts with http:// or https://, found ${url.protocol}`);
    }
    if (url.username !== "" || url.password !== "") {
        throw new Failure("expected a URL without a user and a password");
    }
    return url;
}
