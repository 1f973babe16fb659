// These types are the messages between the extension and its renderer: the content of cellgate's own output types, and the
// renderer's requests. A request only names an output; what it opens or changes comes from the extension's own records.

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
    /** The frames in documents; `index` counts all. */
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

/** How a remedy is applied: by a rule of the session, by a restart of its kernel, by an install, or by writing wrappers. */
export type RemedyKind = "rule" | "restart" | "install" | "wrappers";

export interface ShownNote {
    text: string;
    remedy: string;
    /** The remedy can be applied. `index`: of the note in the execution's result. `packages`: what is installed. */
    action?: { index: number; kind: RemedyKind; packages?: string };
}

export interface NotesItem {
    executionId: string;
    notes: ShownNote[];
}

export type RendererRequest =
    /** The user clicked a link; the editor asks before it leaves. */
    | { kind: "openLink"; href: string }
    | { kind: "openFrame"; executionId: string; index: number }
    | { kind: "showAll"; executionId: string }
    | { kind: "runScripts"; executionId: string; seq: number }
    /** The user is asked before anything changes. */
    | { kind: "applyRemedy"; executionId: string; index: number }
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
