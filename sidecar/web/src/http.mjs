import http from "node:http";
import tls from "node:tls";
import zlib from "node:zlib";
import { readFileSync } from "node:fs";
import { pageAddress } from "./address.mjs";
import { Failure } from "./failure.mjs";

const maxRedirects = 10;
const silenceLimit = 30_000; // milliseconds without a byte
const answerLimit = 90_000; // milliseconds for a whole answer, once it is connected
const redirects = new Set([301, 302, 303, 307, 308]);
const decoders = new Map([
    ["gzip", zlib.createGunzip],
    ["x-gzip", zlib.createGunzip],
    ["deflate", zlib.createInflate],
    ["br", zlib.createBrotliDecompress],
]);

/**
 * GETs an address through the sandbox's proxy, and follows redirects. Of the body, unpacked, at most `maxBytes` are read;
 * `cut` says that there was more. Throws a Failure.
 * @returns {Promise<{url: URL, status: number, statusText: string, type: string, body: Buffer, cut: boolean}>}
 */
export async function get(address, { maxBytes, accept, headers = {}, signal }) {
    let url = pageAddress(address);
    for (let redirected = 0; redirected <= maxRedirects; ++redirected) {
        const response = await send(url, { accept, headers, signal });
        const location = response.headers.location;
        if (!redirects.has(response.statusCode) || location === undefined) {
            return { url, ...(await readAnswer(response, maxBytes, url)) };
        }
        response.destroy();
        const next = pageAddress(location, url);
        if (next.host !== url.host) headers = {}; // they are for the host that the caller named
        url = next;
    }
    throw new Failure(`${address} was redirected more than ${maxRedirects} times, last to ${url}`);
}

/** The body as a text, by the charset of its header, of its first bytes, or of itself. */
export function textOf(body, type, cut) {
    const named = /charset\s*=\s*["']?([^\s"';]+)/i.exec(type) ?? declaredCharset(body);
    if (named) {
        try {
            return new TextDecoder(named[1]).decode(body);
        } catch {
            // a charset that does not exist
        }
    }
    try {
        return new TextDecoder("utf-8", { fatal: true }).decode(body, { stream: cut });
    } catch {
        return new TextDecoder("windows-1252").decode(body);
    }
}

function declaredCharset(body) {
    if (body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf) return [, "utf-8"];
    if (body[0] === 0xff && body[1] === 0xfe) return [, "utf-16le"];
    if (body[0] === 0xfe && body[1] === 0xff) return [, "utf-16be"];
    const head = body.subarray(0, 4096).toString("latin1");
    return /<meta[^>]+charset\s*=\s*["']?([\w.:-]+)/i.exec(head) ?? /^<\?xml[^>]+encoding\s*=\s*["']([\w.:-]+)/i.exec(head);
}

async function send(url, { accept, headers, signal }) {
    const socket = await connect(url, signal);
    return new Promise((resolve, reject) => {
        const request = http.request({
            createConnection: () => socket,
            host: url.hostname,
            path: url.pathname + url.search,
            headers: { host: url.host, accept, "accept-encoding": "gzip, deflate, br", "accept-language": "en, *;q=0.5",
                       "user-agent": "Mozilla/5.0 (compatible; cellgate)", ...headers },
            signal,
        });
        const limit = setTimeout(() => socket.destroy(new Failure(`${url.host} sent no whole answer in time`)), answerLimit);
        socket.setTimeout(silenceLimit, () => socket.destroy(new Failure(`${url.host} does not answer`)));
        socket.on("close", () => clearTimeout(limit));
        request.on("response", resolve);
        request.on("error", (error) => reject(failureOf(error, url)));
        request.end();
    });
}

/** A connection through the proxy; of https, TLS in it. It waits for as long as a user is asked about the host. */
async function connect(url, signal) {
    const secure = url.protocol === "https:";
    const host = url.hostname;
    const socket = await tunnel(host, url.port || (secure ? 443 : 80), signal);
    if (!secure) return socket;
    return new Promise((resolve, reject) => {
        const name = host.replace(/^\[|\]$/g, "");
        const isName = !/^[\d.]+$/.test(name) && !name.includes(":");
        const options = { socket, host: name, ALPNProtocols: ["http/1.1"], ...(isName && { servername: name }), ...authorities() };
        const secured = tls.connect(options, () => resolve(secured));
        secured.on("error", (error) => reject(failureOf(error, url)));
    });
}

// The system's authorities, with those of the sandbox.
function authorities() {
    const file = process.env.SSL_CERT_FILE;
    return file ? { ca: readFileSync(file) } : {};
}

function tunnel(host, port, signal) {
    const proxy = new URL(process.env.HTTPS_PROXY ?? "http://127.0.0.1:3128");
    const target = `${host}:${port}`;
    return new Promise((resolve, reject) => {
        const request = http.request({ host: proxy.hostname, port: proxy.port, method: "CONNECT", path: target,
                                       headers: { host: target }, agent: false, signal });
        request.on("connect", (answer, socket) => {
            if (answer.statusCode === 200) {
                resolve(socket);
                return;
            }
            socket.destroy();
            reject(new Failure(`no connection to ${target}: ${answer.statusMessage}`));
        });
        request.on("error", (error) => reject(failureOf(error, { host: target })));
        request.end();
    });
}

async function readAnswer(response, maxBytes, url) {
    const encoding = (response.headers["content-encoding"] ?? "identity").trim().toLowerCase();
    const decoder = decoders.get(encoding)?.();
    if (decoder === undefined && encoding !== "identity") {
        throw new Failure(`${url.host} sent the page packed as ${encoding}, which was not asked for`);
    }
    const stream = decoder ? response.on("error", (error) => decoder.destroy(error)).pipe(decoder) : response;
    const chunks = [];
    let left = maxBytes;
    let cut = false;
    try {
        for await (const chunk of stream) {
            cut = chunk.length > left;
            chunks.push(cut ? chunk.subarray(0, left) : chunk);
            left -= Math.min(left, chunk.length);
            if (cut) break;
        }
    } catch (error) {
        throw failureOf(error, url);
    } finally {
        response.destroy();
    }
    return { status: response.statusCode, statusText: response.statusMessage, type: response.headers["content-type"] ?? "",
             body: Buffer.concat(chunks), cut };
}

function failureOf(error, url) {
    if (error instanceof Failure || error.name === "AbortError") return error;
    return new Failure(`cannot get what is at ${url.host}: ${error.reason ?? error.message}`);
}
