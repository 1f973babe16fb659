// What the extension and its renderer say to each other: the content of our own types of output, and the requests of the
// renderer. A request names an output and nothing more; what is then opened, the extension knows from its own records.

export type Markup = "html" | "svg" | "markdown";

export const rendererId = "cellgate-renderer";

export const mimes = {
    markup: "application/vnd.cellgate.markup",
    json: "application/vnd.cellgate.json",
    error: "application/vnd.cellgate.error",
    large: "application/vnd.cellgate.large",
    omitted: "application/vnd.cellgate.omitted",
    notes: "application/vnd.cellgate.notes",
} as const;

export interface MarkupItem {
    executionId: string;
    seq: number;
    language: Markup;
    text: string;
}

export interface ErrorItem {
    executionId: string;
    text: string;
    /** Those that lie in documents; `index` counts all. */
    frames: { index: number; place: string; name: string }[];
}

export interface LargeItem {
    executionId: string;
    seq: number;
    mime: string;
    bytes: number;
}

export interface OmittedItem {
    executionId: string;
    bytes: number;
    outputs: number;
}

export interface NotesItem {
    notes: { text: string; remedy: string }[];
}

export type RendererRequest =
    /** The person clicked a link; the editor asks before it leaves. */
    | { kind: "openLink"; href: string }
    | { kind: "openFrame"; executionId: string; index: number }
    | { kind: "showAll"; executionId: string }
    | { kind: "runScripts"; executionId: string; seq: number }
    /** Answered by a `LargeAnswer`. */
    | { kind: "large"; executionId: string; seq: number; mime: string };

export interface LargeAnswer {
    kind: "large";
    executionId: string;
    seq: number;
    mime: string;
    /** Messages between the editor and a renderer are JSON: bytes would not come as bytes. */
    base64?: string;
    problem?: string;
}
