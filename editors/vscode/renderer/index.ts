// Shows those outputs of results that the editor has no form of its own for. What it is given is hostile: text becomes
// text nodes, markup goes into a frame without scripts and network, and nothing is done before the person clicks.

import type { ActivationFunction, OutputItem } from "vscode-notebook-renderer";
import {
    mimes,
    type ErrorItem,
    type LargeAnswer,
    type LargeItem,
    type MarkupItem,
    type NotesItem,
    type OmittedItem,
    type RendererRequest,
} from "../src/results/messages";
import { coloured } from "./ansi";
import { hasScripts } from "./clean";
import { button, element, sizeOf } from "./elements";
import { frameOf } from "./frame";
import { jsonTree } from "./json";
import { markdown } from "./markdown";
import css from "./style.css";

export const activate: ActivationFunction = (context) => {
    const ask = (request: RendererRequest) => context.postMessage?.(request);
    const style = element("style");
    style.textContent = css;
    document.head.append(style);

    /** Who waits for large data, by what it asked for. */
    const expecting = new Map<string, (answer: LargeAnswer) => void>();
    context.onDidReceiveMessage?.((answer: LargeAnswer) => {
        const key = keyOf(answer);
        expecting.get(key)?.(answer);
        expecting.delete(key);
    });

    function markup({ executionId, seq, language, text }: MarkupItem): HTMLElement {
        const html = language === "markdown" ? markdown(text) : text;
        const box = element("div", "cellgate-markup");
        box.append(frameOf(html, language, (href) => ask({ kind: "openLink", href })));
        if (language !== "markdown" && hasScripts(html)) {
            const words = element("div", "cellgate-note", "This output has scripts. They do not run here. ");
            words.append(button("Run Scripts in a Panel", () => ask({ kind: "runScripts", executionId, seq })));
            box.append(words);
        }
        return box;
    }

    function error({ executionId, text: words, frames }: ErrorItem): HTMLElement {
        const box = element("div", "cellgate-error");
        const text = element("pre");
        text.append(coloured(words));
        box.append(text);
        if (frames.length > 0) {
            const list = element("div", "cellgate-frames");
            for (const { index, place, name } of frames) {
                list.append(button(`${place} in ${name}`, () => ask({ kind: "openFrame", executionId, index })));
            }
            box.append(list);
        }
        return box;
    }

    function large(item: LargeItem): HTMLElement {
        const { mime, bytes } = item;
        const box = element("div", "cellgate-large");
        const load = () => {
            box.replaceChildren(element("span", "cellgate-note", `loading ${mime}, ${sizeOf(bytes)}`));
            expecting.set(keyOf(item), ({ base64, problem }) => {
                box.replaceChildren(base64 !== undefined ? loaded(item, bytesOf(base64)) : element("span", "cellgate-note", problem ?? ""));
            });
            ask({ kind: "large", executionId: item.executionId, seq: item.seq, mime });
        };
        if (mime.startsWith("image/") && mime !== "image/svg+xml") {
            load();
        } else {
            box.append(element("span", "cellgate-note", `${mime}, ${sizeOf(bytes)} `), button("Show", load));
        }
        return box;
    }

    function loaded({ executionId, seq, mime }: LargeItem, data: Uint8Array<ArrayBuffer>): HTMLElement {
        if (mime.startsWith("image/") && mime !== "image/svg+xml") {
            const image = element("img");
            image.alt = "Picture put out by the cell";
            image.src = URL.createObjectURL(new Blob([data], { type: mime }));
            return image;
        }
        const text = new TextDecoder().decode(data);
        if (mime === "text/html") return markup({ executionId, seq, language: "html", text });
        if (mime === "image/svg+xml") return markup({ executionId, seq, language: "svg", text });
        if (mime === "text/markdown") return markup({ executionId, seq, language: "markdown", text });
        if (mime === "application/json") return jsonTree(JSON.parse(text));
        return element("pre", "cellgate-text", text);
    }

    function omitted({ executionId, bytes, outputs }: OmittedItem): HTMLElement {
        const what = outputs > 0 ? `${outputs} more outputs` : bytes > 0 ? sizeOf(bytes) : "Some of it";
        const box = element("div", "cellgate-note", `… ${what} not shown here … `);
        box.append(button("Show All as Text", () => ask({ kind: "showAll", executionId })));
        return box;
    }

    function notes({ notes: all }: NotesItem): HTMLElement {
        const box = element("div", "cellgate-notes");
        for (const { text, remedy } of all) {
            box.append(element("div", "cellgate-note", text));
            if (remedy) box.append(element("div", "cellgate-remedy", remedy));
        }
        return box;
    }

    function show(item: OutputItem): HTMLElement {
        switch (item.mime) {
            case mimes.markup:
                return markup(item.json() as MarkupItem);
            case mimes.error:
                return error(item.json() as ErrorItem);
            case mimes.json:
                return jsonTree(item.json());
            case mimes.large:
                return large(item.json() as LargeItem);
            case mimes.omitted:
                return omitted(item.json() as OmittedItem);
            default:
                return notes(item.json() as NotesItem);
        }
    }

    /** What each place shows: given the same again, as the editor does, it is left as it is. */
    const shown = new WeakMap<HTMLElement, string>();
    return {
        renderOutputItem(item, place) {
            const content = `${item.mime}\n${item.text()}`;
            if (shown.get(place) === content && place.childElementCount > 0) return;
            shown.set(place, content);
            place.replaceChildren(show(item));
        },
    };
};

function keyOf({ executionId, seq, mime }: { executionId: string; seq: number; mime: string }): string {
    return `${executionId} ${seq} ${mime}`;
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}
