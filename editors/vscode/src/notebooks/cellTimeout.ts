// These functions are about the timeout of a notebook's cell, which is in its metadata, and so in the notebook's file:
// `{"cellgate": {"timeoutSeconds": 10}}`.

import type * as vscode from "vscode";

type Metadata = Record<string, unknown>;

/** Of a cell as the editor has it: `metadata` in that is what the file has. Undefined where it has none that fits. */
export function timeoutOfCell({ metadata }: Pick<vscode.NotebookCell, "metadata">): number | undefined {
    const own = (metadata.metadata ?? {}) as Metadata;
    const seconds = ((own.cellgate ?? {}) as Metadata).timeoutSeconds;
    return typeof seconds === "number" && seconds > 0 && Number.isFinite(seconds) ? seconds : undefined;
}

/** The metadata with that timeout; undefined: with none. */
export function withTimeout(metadata: Metadata, seconds: number | undefined): Metadata {
    const { cellgate, ...others } = (metadata.metadata ?? {}) as Metadata;
    const own = { ...(cellgate as Metadata | undefined), timeoutSeconds: seconds };
    if (seconds === undefined) delete own.timeoutSeconds;
    return { ...metadata, metadata: Object.keys(own).length > 0 ? { ...others, cellgate: own } : others };
}

/** The seconds that were typed: none of an empty text, undefined of what is no time. */
export function parseTimeout(typed: string): { seconds?: number } | undefined {
    const text = typed.trim();
    if (text === "") return {};
    return /^\d+(\.\d+)?$/.test(text) && Number(text) > 0 ? { seconds: Number(text) } : undefined;
}
