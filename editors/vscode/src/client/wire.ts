// These functions handle messages as wire text. vscode-jsonrpc uses JSON.parse and JSON.stringify, which change
// numbers: `verbatim` values are sent as they are written, and exact values are read from the text of the message.

import { randomUUID } from "node:crypto";
import type { ContentTypeDecoder, ContentTypeEncoder, Message } from "vscode-jsonrpc/node";
import { parseExact, valueAt, type Exact } from "../exactJson";

class Verbatim {
    constructor(readonly text: string) {}
}

/** An object that is sent as it is written. The caller has checked that the text is JSON. */
export function verbatim(text: string): Record<string, unknown> {
    return new Verbatim(text) as object as Record<string, unknown>;
}

export const encoder: ContentTypeEncoder = {
    name: "application/json",
    encode: (message) => Promise.resolve(Buffer.from(serialize(message), "utf8")),
};

/** The message's text, with verbatim values unchanged. */
export function serialize(message: unknown): string {
    const mark = randomUUID();
    const texts: string[] = [];
    const marked = JSON.stringify(message, (_, value: unknown) =>
        value instanceof Verbatim ? `${mark}${texts.push(value.text) - 1}` : value,
    );
    return marked.replace(new RegExp(`"${mark}(\\d+)"`, "g"), (_, index: string) => texts[Number(index)] ?? "");
}

// Of what came, as long as somebody has it.
const texts = new WeakMap<object, string>();

export const decoder: ContentTypeDecoder = {
    name: "application/json",
    decode: async (bytes) => {
        const text = new TextDecoder().decode(bytes);
        const message = await Promise.resolve(JSON.parse(text) as Message & { params?: unknown });
        if (typeof message.params === "object" && message.params !== null) texts.set(message.params, text);
        return message;
    },
};

/** What a notification's or a request's params held at a way of names, as it was written. */
export function exactParam(params: object, ...way: string[]): Exact | undefined {
    const text = texts.get(params);
    return text === undefined ? undefined : valueAt(parseExact(text), ["params", ...way]);
}
