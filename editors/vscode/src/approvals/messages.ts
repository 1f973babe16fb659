// These types are the messages between the extension and an approvals page.

import type { ElicitationAction, ElicitationField } from "../protocol/messages";

/** Where the editor shows the page: as a view of the side bar, or as an editor tab. */
export type PageHost = "sideBar" | "editor";

/** An answer that cellgate offers; `key` names it among those of all items. */
export interface Option {
    readonly key: string;
    readonly label: string;
    /** It makes a rule that covers more than this payload. */
    readonly wide: boolean;
}

/** What waits, as the page shows it. Unprintable characters of all texts are escaped already. */
interface WaitingItem {
    /** Unique in the page. */
    readonly id: string;
    /** Whose code asks: the card. `code`: the code is in no document, and can be opened as one. */
    readonly card: { readonly key: string; readonly title: string; readonly agent?: string; readonly code: boolean };
    /** Items of the same group are calls of the same tool, and share a table. */
    readonly group: string;
    /** The line that makes the call. */
    readonly source?: { readonly place: string; readonly text: string; readonly changed: boolean; readonly link: boolean };
}

/** One approval. */
export interface ApprovalItem extends WaitingItem {
    readonly display: readonly string[];
    /** What changed in the tool's definition, as lines of a diff; all of a group have the same. */
    readonly changes: readonly string[];
    readonly hints: readonly string[];
    readonly options: readonly Option[];
    /** Its arguments, or the request, can be changed. */
    readonly editable: boolean;
}

/** One question of a tool server, or about its inputs. */
export interface ElicitationItem extends WaitingItem {
    readonly elicitation: {
        readonly title: string;
        /** Of which call it is; of none before the server starts. */
        readonly tool?: string;
        readonly message: string;
        /** Of a form. */
        readonly fields?: readonly ElicitationField[];
        /** Of a page to be opened. */
        readonly page?: { readonly url: string; readonly host: string };
    };
}

export type Item = ApprovalItem | ElicitationItem;

export const isElicitationItem = (item: Item): item is ElicitationItem => "elicitation" in item;

export const areApprovals = (items: readonly Item[]): items is readonly ApprovalItem[] => !items.some(isElicitationItem);

/** The first line of it. */
export const titleOf = (item: Item) => (isElicitationItem(item) ? item.elicitation.title : (item.display[0] ?? ""));

/** One line about a tool's arguments, from its schema. */
export interface OutlineLine {
    /** How deeply it is nested. */
    readonly depth: number;
    readonly name: string;
    /** Such as `integer, required, at least 1`. */
    readonly words: string;
    readonly description: string;
}

export type ToPage =
    /** What waits. An answer has to carry the nonce of the last such message. */
    | { type: "waiting"; nonce: string; items: Item[]; decided: { id: string; text: string }[]; connected: boolean }
    | { type: "editor"; id: string; text: string; outline: OutlineLine[] }
    /** Whether the editor shows the page: a hidden page keeps its layout. */
    | { type: "shown"; shown: boolean }
    /** An answer, or a request to edit, failed. */
    | { type: "refused"; ids: string[]; text: string };

export type FromPage =
    | { type: "ready" }
    | {
          type: "answer";
          nonce: string;
          ids: string[];
          decision: "allow" | "deny";
          /** The option's key; of an edited call there is none. */
          option?: string;
          /** Edited arguments, as JSON. */
          arguments?: string;
          reason?: string;
      }
    /** Of an elicitation. */
    | { type: "reply"; nonce: string; id: string; action: ElicitationAction; values?: Record<string, unknown> }
    /** Opens the page that an elicitation asks for in the browser, which accepts it. */
    | { type: "openPage"; nonce: string; id: string }
    | { type: "copyUrl"; id: string }
    | { type: "edit"; id: string }
    | { type: "reveal"; id: string }
    /** The code of the execution that makes this call. */
    | { type: "code"; id: string }
    /** Show this page as an editor tab. */
    | { type: "openEditor" };
