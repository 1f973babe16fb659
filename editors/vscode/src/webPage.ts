// `webPage` validates the URL of a page that the browser is to open.

/** The same text. Throws an Error for a user, when it is none of a web page. */
export function webPage(url: string): string {
    const scheme = URL.canParse(url) ? new URL(url).protocol : "";
    if (scheme !== "https:" && scheme !== "http:") throw new Error("only pages of http and https are opened");
    return url;
}
