// `OutputView` makes the elements that show an output. Its input is hostile: text becomes text nodes, markup goes into a
// frame without scripts and network, and nothing is requested before the user clicks, except pictures.

import type { OutputItem } from "vscode-notebook-renderer";
import {
    mimes,
    type ErrorItem,
    type LargeItem,
    type MarkupItem,
    type NotesItem,
    type OmittedItem,
    type RemedyKind,
    type RendererRequest,
} from "../src/results/messages";
import { pieces } from "./ansi";
import { hasScripts } from "./clean";
import { button, element, sizeOf } from "./elements";
import { frameOf } from "./frame";
import { jsonTree } from "./json";
import type { LargeData } from "./largeData";
import { markdown } from "./markdown";

/** Each opens a dialog that says what will change, or asks in the approvals view, but for wrappers. */
const remedyButtons: Record<RemedyKind, string> = { rule: "Add This Rule…", restart: "Restart with It…", install: "Install", wrappers: "Generate Wrappers" };

export class OutputView {
    constructor(
        private readonly ask: (request: RendererRequest) => void,
        private readonly largeData: LargeData,
    ) {}

    show(item: OutputItem): HTMLElement {
        switch (item.mime) {
            case mimes.markup:
                return this.markup(item.json() as MarkupItem);
            case mimes.error:
                return this.error(item.json() as ErrorItem);
            case mimes.json:
                return jsonTree(item.json());
            case mimes.large:
                return this.large(item.json() as LargeItem);
            case mimes.omitted:
                return this.omitted(item.json() as OmittedItem);
            default:
                return this.notes(item.json() as NotesItem);
        }
    }

    private markup({ executionId, seq, language, text }: MarkupItem): HTMLElement {
        const html = language === "markdown" ? markdown(text) : text;
        const box = element("div", "cellgate-markup");
        box.append(frameOf(html, language, (href) => this.ask({ kind: "openLink", href })));
        if (language !== "markdown" && hasScripts(html)) {
            const note = element("div", "cellgate-note", "This output has scripts. They do not run here. ");
            note.append(button("Run Scripts in a Panel", () => this.ask({ kind: "runScripts", executionId, seq })));
            box.append(note);
        }
        return box;
    }

    private error({ executionId, text, frames }: ErrorItem): HTMLElement {
        const box = element("div", "cellgate-error");
        const traceback = element("pre");
        for (const piece of pieces(text)) {
            const span = element("span", "", piece.text);
            Object.assign(span.style, piece.style);
            traceback.append(span);
        }
        box.append(traceback);
        if (frames.length > 0) {
            const list = element("div", "cellgate-frames");
            for (const { index, place, name } of frames) {
                list.append(button(`${place} in ${name}`, () => this.ask({ kind: "openFrame", executionId, index })));
            }
            box.append(list);
        }
        return box;
    }

    private large(item: LargeItem): HTMLElement {
        const { mime, bytes } = item;
        const box = element("div", "cellgate-large");
        const load = () => {
            box.replaceChildren(element("span", "cellgate-note", `loading ${mime}, ${sizeOf(bytes)}`));
            this.largeData.load(item, (loaded) => {
                box.replaceChildren("data" in loaded ? this.loaded(item, loaded.data) : element("span", "cellgate-note", loaded.problem));
            });
        };
        if (isPicture(mime)) {
            load();
        } else {
            box.append(element("span", "cellgate-note", `${mime}, ${sizeOf(bytes)} `), button("Show", load));
        }
        return box;
    }

    private loaded({ executionId, seq, mime }: LargeItem, data: Uint8Array<ArrayBuffer>): HTMLElement {
        if (isPicture(mime)) {
            const image = element("img");
            image.alt = "Picture put out by the cell";
            image.src = URL.createObjectURL(new Blob([data], { type: mime }));
            return image;
        }
        const text = new TextDecoder().decode(data);
        if (mime === "text/html") return this.markup({ executionId, seq, language: "html", text });
        if (mime === "image/svg+xml") return this.markup({ executionId, seq, language: "svg", text });
        if (mime === "text/markdown") return this.markup({ executionId, seq, language: "markdown", text });
        if (mime === "application/json") return jsonTree(JSON.parse(text));
        return element("pre", "cellgate-text", text);
    }

    private omitted({ executionId, bytes, outputs }: OmittedItem): HTMLElement {
        const what = outputs > 0 ? `${outputs} more outputs` : bytes > 0 ? sizeOf(bytes) : "Some of it";
        const box = element("div", "cellgate-note", `… ${what} not shown here … `);
        box.append(button("Show All as Text", () => this.ask({ kind: "showAll", executionId })));
        return box;
    }

    private notes({ executionId, notes }: NotesItem): HTMLElement {
        const box = element("div", "cellgate-notes");
        for (const { text, remedy, action } of notes) {
            box.append(element("div", "cellgate-note", text));
            if (!remedy) continue;
            const line = element("div", "cellgate-remedy", action ? `${remedy} ` : remedy);
            if (action) {
                const { index, kind, packages } = action;
                const name = packages === undefined ? remedyButtons[kind] : `${remedyButtons[kind]} ${packages}`;
                line.append(button(name, () => this.ask({ kind: "applyRemedy", executionId, index })));
            }
            box.append(line);
        }
        return box;
    }
}

const isPicture = (mime: string) => mime.startsWith("image/") && mime !== "image/svg+xml";
