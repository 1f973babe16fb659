// `Checker` is the checks of documents' code that are under way: for each document one at a time, and one request at a
// time. A later check of a document cancels an earlier one.

import { setTimeout as delay } from "node:timers/promises";
import { CancellationTokenSource, ResponseError, type CancellationToken } from "vscode-jsonrpc/node";
import type { Log } from "../client/connection";
import type { Sidecar } from "../client/sidecar";
import type { ValidateParams, ValidateResult } from "../protocol/messages";
import { escapeUnprintable } from "../text";

/** `superseded`: a later check of the same document began. `unknown`: the sidecar is of a version that checks nothing. */
export type Checked = { readonly kind: "checked"; readonly results: ValidateResult[] } | { readonly kind: "superseded" | "unknown" };

const methodNotFound = -32601;

interface Run {
    readonly source: CancellationTokenSource;
    /** Resolves in any case. */
    readonly ended: Promise<unknown>;
}

export class Checker {
    private readonly runs = new Map<string, Run>();
    private readonly missing = new Set<string>();

    constructor(
        private readonly sidecar: Pick<Sidecar, "request">,
        private readonly log: Pick<Log, "info">,
    ) {}

    /**
     * Checks the document of this URI after `restMilliseconds` without another check. `read` is called then: the pieces
     * of its code, whose results have the same order. Rejects with the sidecar's error.
     */
    async check(uri: string, read: () => ValidateParams[], restMilliseconds: number): Promise<Checked> {
        const before = this.runs.get(uri);
        before?.source.cancel();
        const source = new CancellationTokenSource();
        const checked = this.run(before?.ended, source.token, read, restMilliseconds);
        const ended = checked.catch(() => undefined);
        const run = { source, ended };
        this.runs.set(uri, run);
        try {
            return await checked;
        } finally {
            if (this.runs.get(uri) === run) this.runs.delete(uri);
        }
    }

    /** Ends the check of a document that is closed. */
    cancel(uri: string): void {
        this.runs.get(uri)?.source.cancel();
    }

    private async run(before: Promise<unknown> | undefined, token: CancellationToken, read: () => ValidateParams[], restMilliseconds: number): Promise<Checked> {
        await before;
        await delay(restMilliseconds);
        const results: ValidateResult[] = [];
        try {
            for (const params of token.isCancellationRequested ? [] : read()) {
                if (token.isCancellationRequested) break;
                results.push(await this.sidecar.request("validate", params, token));
            }
        } catch (error) {
            if (token.isCancellationRequested) return { kind: "superseded" };
            if (error instanceof ResponseError && error.code === methodNotFound) return { kind: "unknown" };
            throw error;
        }
        if (token.isCancellationRequested) return { kind: "superseded" };
        this.logMissing(results);
        return { kind: "checked", results };
    }

    /** Names each once, and not again with every file. */
    private logMissing(results: ValidateResult[]): void {
        for (const program of results.flatMap(({ missing }) => missing ?? [])) {
            if (this.missing.has(program)) continue;
            this.missing.add(program);
            this.log.info(`checks of code would find more with ${escapeUnprintable(program)}`);
        }
    }
}
