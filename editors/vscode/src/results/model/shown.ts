// `Shown` is one output as this editor shows it. Nothing here runs code or loads anything: HTML, SVG and Markdown are
// for the renderer, which shows them without scripts and network.

import type { Frame, MimeBundle } from "../../protocol/messages";
import type { Markup, ShownNote } from "../messages";

export type Content =
    | { kind: "markup"; language: Markup; text: string; plain: string }
    | { kind: "image"; mime: string; base64: string }
    | { kind: "json"; value: unknown }
    /** `why`: when it replaces something that cannot be shown here. */
    | { kind: "text"; text: string; why?: string }
    /** It is not here for its size; the journal has it. */
    | { kind: "large"; mime: string; bytes: number };

/** `key`: the same for the same output, while it changes. */
export type Shown = { readonly key: number } & (
    | { kind: "stream"; name: "stdout" | "stderr"; text: string }
    | { kind: "data"; seq: number; content: Content }
    | { kind: "error"; text: string; frames: Frame[] }
    | { kind: "omitted"; bytes: number; outputs: number }
    | { kind: "notes"; notes: ShownNote[] }
);

const markups: [mime: string, language: Markup][] = [
    ["text/html", "html"],
    ["image/svg+xml", "svg"],
    ["text/markdown", "markdown"],
];
const images = ["image/png", "image/jpeg", "image/gif", "image/webp"];
const texts = ["text/plain", "text/latex"];
const widget = "application/vnd.jupyter.widget-view+json";

/** More than that of one output is not kept here. */
export const maxOutputBytes = 256 * 1024;

/** A value of a bundle as nbformat writes it: a string, the lines of one, or JSON. */
export function textOf(value: unknown): string | undefined {
    if (value === undefined || typeof value === "string") return value;
    if (Array.isArray(value) && value.every((line) => typeof line === "string")) return value.join("");
    return JSON.stringify(value);
}

/** The form in which a bundle is shown, the richest that there is. `large`: its parts that are in files, by type. */
export function contentOf(data: MimeBundle, large: { mime: string; bytes: number }[] = []): Content {
    const text = (mime: string) => textOf(data[mime]);
    if (widget in data) {
        return { kind: "text", text: beginning(text("text/plain")), why: "Widgets are not shown here; this is their text form." };
    }
    for (const mime of [...markups.map(([each]) => each), ...images, "application/json", ...texts]) {
        const file = large.find((each) => each.mime === mime);
        if (file) return { kind: "large", ...file };
        const value = text(mime);
        if (value === undefined) continue;
        const bytes = Buffer.byteLength(value);
        if (bytes > maxOutputBytes) return { kind: "large", mime, bytes };
        const language = markups.find(([each]) => each === mime)?.[1];
        if (language) return { kind: "markup", language, text: value, plain: beginning(text("text/plain")) };
        if (images.includes(mime)) return { kind: "image", mime, base64: value };
        if (mime === "application/json") return { kind: "json", value: data[mime] };
        return { kind: "text", text: value };
    }
    const types = [...Object.keys(data), ...large.map(({ mime }) => mime)];
    return { kind: "text", text: "", why: `There is nothing here that can be shown; its types are ${types.join(", ") || "none"}.` };
}

function beginning(text = ""): string {
    return Buffer.from(text).subarray(0, maxOutputBytes).toString().replace(/\ufffd+$/, "");
}

/** The traceback of an error, else its name and value. */
export function textOfError({ ename, evalue, traceback }: { ename: string; evalue: string; traceback: string[] }): string {
    return traceback.join("\n") || `${ename}: ${evalue}`;
}

const jsonSizes = new WeakMap<Content, number>();

/** About how much it is to keep. */
export function bytesOf(content: Content): number {
    switch (content.kind) {
        case "markup":
            return content.text.length + content.plain.length;
        case "image":
            return content.base64.length;
        case "json": {
            const known = jsonSizes.get(content) ?? JSON.stringify(content.value).length;
            jsonSizes.set(content, known);
            return known;
        }
        case "text":
            return content.text.length;
        case "large":
            return 0;
    }
}

/** Nothing changed. */
export function isSame(before: Shown, now: Shown): boolean {
    if (before.kind === "stream" && now.kind === "stream") return before.text === now.text;
    if (before.kind === "data" && now.kind === "data") return before.content === now.content;
    if (before.kind === "error" && now.kind === "error") return before.frames === now.frames;
    if (before.kind === "omitted" && now.kind === "omitted") return before.bytes === now.bytes && before.outputs === now.outputs;
    if (before.kind === "notes" && now.kind === "notes") return before.notes === now.notes;
    return false;
}

/** When nothing but text was added at the end: that text. */
export function additionTo(before: Shown, now: Shown): Shown | undefined {
    if (before.kind !== "stream" || now.kind !== "stream" || !now.text.startsWith(before.text)) return undefined;
    return { ...now, text: now.text.slice(before.text.length) };
}
