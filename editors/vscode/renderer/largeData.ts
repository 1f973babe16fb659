// `LargeData` fetches data that is too large for a notebook from the extension, each at the user's request or for a picture.

import type { LargeAnswer, LargeItem, RendererRequest } from "../src/results/messages";

export type Loaded = { readonly data: Uint8Array<ArrayBuffer> } | { readonly problem: string };

export class LargeData {
    /** The pending requests. */
    private readonly expecting = new Map<string, (answer: LargeAnswer) => void>();

    constructor(private readonly ask: (request: RendererRequest) => void) {}

    load(item: LargeItem, show: (loaded: Loaded) => void): void {
        const { executionId, seq, mime } = item;
        this.expecting.set(keyOf(item), ({ base64, problem }) => {
            show(base64 === undefined ? { problem: problem ?? "" } : { data: bytesOf(base64) });
        });
        this.ask({ kind: "large", executionId, seq, mime });
    }

    take(answer: LargeAnswer): void {
        const key = keyOf(answer);
        this.expecting.get(key)?.(answer);
        this.expecting.delete(key);
    }
}

function keyOf({ executionId, seq, mime }: { executionId: string; seq: number; mime: string }): string {
    return `${executionId} ${seq} ${mime}`;
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}
