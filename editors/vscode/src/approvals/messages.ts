// What the extension and the page of the approvals view say to each other.

/** An answer that cellgate offers; `key` names it among those of all questions. */
export interface Option {
    readonly key: string;
    readonly label: string;
    /** It makes a rule that covers more than this payload. */
    readonly wide: boolean;
}

/** One approval as the page shows it. All of its text is made visible already. */
export interface Question {
    readonly id: string;
    /** Whose code asks: the card. `code`: it stands in no document, and can be opened as one. */
    readonly card: { readonly key: string; readonly title: string; readonly agent?: string; readonly code: boolean };
    /** Questions with the same one are calls of the same tool, and stand in one table. */
    readonly group: string;
    readonly display: readonly string[];
    readonly source?: { readonly place: string; readonly text: string; readonly changed: boolean; readonly link: boolean };
    readonly hints: readonly string[];
    readonly options: readonly Option[];
    /** Its arguments can be changed. */
    readonly editable: boolean;
}

/** One thing that a tool's schema says of its arguments. */
export interface OutlineLine {
    /** How deep it lies within others. */
    readonly depth: number;
    readonly name: string;
    /** Such as `integer, required, at least 1`. */
    readonly words: string;
    readonly description: string;
}

export type ToPage =
    /** What waits now. An answer has to carry the nonce of the last one. */
    | { type: "waiting"; nonce: string; questions: Question[]; decided: { id: string; text: string }[]; connected: boolean }
    | { type: "editor"; id: string; text: string; outline: OutlineLine[] }
    /** Whether the editor shows the view: one that is hidden is laid out as before. */
    | { type: "shown"; shown: boolean }
    /** An answer, or a wish to edit, came to nothing. */
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
    | { type: "edit"; id: string }
    | { type: "reveal"; id: string }
    /** The code of the execution that makes this call. */
    | { type: "code"; id: string };
