// `RecordEntries` is the part of the workspace's record that is shown: the newest entries that meet the filter, grouped
// by execution. The sidecar does not notify of entries: every event that may have made one requests them again.

import { Emitter, type Disposable, type Event } from "vscode-jsonrpc/node";
import { isPeerError, textOf } from "../client/errors";
import type { Sidecar } from "../client/sidecar";
import type { RecordEntry, RecordQueryParams } from "../protocol/messages";

export type Filter = Pick<RecordQueryParams, "text" | "types" | "executionId">;

/** The entries of an execution, newest first. Its beginning and its end may be on no page that was read. */
export interface Run {
    readonly executionId: string;
    readonly entries: RecordEntry[];
    started?: RecordEntry;
    ended?: RecordEntry;
}

export type Row = { readonly entry: RecordEntry } | { readonly run: Run };

const pageSize = 100;
/** That the sidecar gives at a time. */
const maxLimit = 1000;

export class RecordEntries implements Disposable {
    private entries: readonly RecordEntry[] = [];
    private decisions = new Map<RecordEntry, RecordEntry>();
    private wanted = pageSize;
    private currentFilter: Filter = {};
    private reading: Promise<void> | undefined;
    private readAgain = false;
    private readonly changed = new Emitter<void>();
    readonly onDidChange: Event<void> = this.changed.event;
    /** Older entries meet the filter, too. */
    more = false;
    /** Why entries are not kept, or cannot be read, now. */
    problem: string | undefined;

    constructor(private readonly sidecar: Pick<Sidecar, "request">) {}

    dispose(): void {
        this.changed.dispose();
    }

    get filter(): Filter {
        return this.currentFilter;
    }

    /** Shows the newest entries that meet it. */
    async show(filter: Filter): Promise<void> {
        this.currentFilter = filter;
        this.wanted = pageSize;
        await this.load();
    }

    async loadOlder(): Promise<void> {
        this.wanted = this.entries.length + pageSize;
        await this.load();
    }

    /** Resolves when what is shown was read after this call. */
    async load(): Promise<void> {
        this.readAgain = true;
        this.reading ??= this.read().finally(() => (this.reading = undefined));
        await this.reading;
    }

    /** Newest first; an execution has the place of its newest entry. */
    rows(): Row[] {
        const rows: Row[] = [];
        const runs = new Map<string, Run>();
        for (const entry of this.entries) {
            const { executionId, type } = entry;
            if (executionId === undefined) {
                rows.push({ entry });
                continue;
            }
            let run = runs.get(executionId);
            if (!run) {
                run = { executionId, entries: [] };
                runs.set(executionId, run);
                rows.push({ run });
            }
            run.entries.push(entry);
            if (type === "execution.started") run.started = entry;
            if (type === "execution.ended") run.ended = entry;
        }
        return rows;
    }

    /** The decision that allowed what ended. */
    decisionOf(ended: RecordEntry): RecordEntry | undefined {
        return this.decisions.get(ended);
    }

    private async read(): Promise<void> {
        while (this.readAgain) {
            this.readAgain = false;
            const filter = this.currentFilter;
            try {
                const { entries, more, problem } = await this.query(filter, this.wanted);
                if (filter !== this.currentFilter) continue;
                [this.entries, this.more, this.problem] = [entries, more, problem];
                this.decisions = decisionsOf(entries);
            } catch (error) {
                // Without a connection, the next connection reads again.
                if (!isPeerError(error)) return;
                this.problem = textOf(error);
            }
            this.changed.fire();
        }
    }

    private async query(filter: Filter, wanted: number): Promise<{ entries: RecordEntry[]; more: boolean; problem?: string }> {
        const entries: RecordEntry[] = [];
        for (;;) {
            const limit = Math.min(wanted - entries.length, maxLimit);
            const page = await this.sidecar.request("record/query", { ...filter, beforeSeq: entries.at(-1)?.seq, limit });
            entries.push(...page.entries);
            const { more, problem } = page;
            if (!more || page.entries.length === 0 || entries.length >= wanted) return { entries, more, problem };
        }
    }
}

/** By the end of an action, the decision that allowed it: each run of a sidecar counts its decisions from 1. */
function decisionsOf(entries: readonly RecordEntry[]): Map<RecordEntry, RecordEntry> {
    const byNumber = new Map<unknown, RecordEntry>();
    const found = new Map<RecordEntry, RecordEntry>();
    for (const entry of entries.toReversed()) {
        const { run, number } = entry.data;
        const key = JSON.stringify([run, number]);
        if (entry.type === "action.decided") byNumber.set(key, entry);
        const decided = entry.type === "action.ended" ? byNumber.get(key) : undefined;
        if (decided) found.set(entry, decided);
    }
    return found;
}
