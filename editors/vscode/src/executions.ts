// `Executions` is the model of executions that everything else reads: the request, its state, how it ended, and its
// output as ordered records. It stores no output: a follower of an execution gets each record exactly once, from the
// journal or as a notification, across reconnections, reloads of the window and restarts of the sidecar.

import { randomUUID } from "node:crypto";
import { Emitter, type Disposable, type Event } from "vscode-jsonrpc/node";
import { isConnectionLost, kindOf, textOf } from "./client/errors";
import type { Sidecar } from "./client/sidecar";
import type {
    AttachedExecution,
    ExecuteParams,
    ExecuteResult,
    ExecutionInfo,
    LostWork,
    OutputReadResult,
    OutputRecord,
} from "./protocol/messages";

export interface Execution {
    readonly id: string;
    readonly sessionId: string;
    /** Where its code is in the editor. */
    readonly cell?: ExecuteParams["cell"];
    /** What was run; of an execution that this window did not ask for, once `Executions.codeOf` fetched it. */
    code?: string;
    /** Whose it is; absent when it is a user's. */
    readonly agent?: string;
    state: "queued" | "running" | "finished";
    /** It has ended, also while its result is still being fetched. */
    over?: true;
    /** While queued: how many came before it when it was queued. */
    position?: number;
    /** While it waits for its turn: how many executions of other agents come before it. */
    waitsBehind?: number;
    /** When this window heard of its start, in milliseconds; absent when it began before that. */
    startedAt?: number;
    /** How far a tool call is that it waits for, by the MCP server. `call`: the server and the tool. */
    progress?: { readonly call: string; readonly message: string };
    /** Its code has asked this window for a line of input. */
    waitsForInput?: boolean;
    /** How it ended. Of a finished execution either this or `problem` is there. */
    result?: ExecuteResult;
    /** Why it never ran, such as a kernel that cannot be started. */
    problem?: unknown;
}

/** Who follows an execution. `end` comes once, behind the last record; records that are `late` may still follow. */
export interface Follower {
    record(record: OutputRecord): void;
    end?(): void;
}

const maxFinished = 2000;
const pageBytes = 1 << 20;

/** An execution, and what only the model itself needs of it. */
interface Entry {
    execution: Execution;
    /** The number of the next record that will be notified; the journal has those before. Unknown until one came. */
    live: number | undefined;
    /** This window's own request for it will be answered with its result. */
    awaited: boolean;
    /** It waits here and not yet at the sidecar. */
    unsent: boolean;
    followers: Set<Following>;
    onFinished: (() => void)[];
}

export class Executions implements Disposable {
    private readonly entries = new Map<string, Entry>();
    private readonly attached = new Set<string>();
    private readonly changed = new Emitter<Execution>();
    /** An execution is new, or has changed. */
    readonly onDidChange: Event<Execution> = this.changed.event;
    private readonly subscriptions: Disposable[];

    /** @param keepsChanges whether the sidecar shall keep which files an execution changes */
    constructor(
        private readonly sidecar: Pick<Sidecar, "request" | "onNotification" | "onDidConnect">,
        private readonly keepsChanges: () => boolean = () => true,
    ) {
        this.subscriptions = [
            sidecar.onNotification("execute/changed", ({ executionId, state, position, waitsBehind, sessionId, agent }) => {
                // Only of an agent's is the session reattached. It is reattached from its queuing on, so from its first record.
                if (sessionId) {
                    const live = state === "queued" ? 0 : undefined;
                    this.add({ id: executionId, sessionId, agent, state: runningUntilResult(state) }, live);
                }
                const entry = this.entries.get(executionId);
                if (entry) void this.move(entry, state, { position, waitsBehind });
                else void this.fetchUnknown(executionId);
            }),
            sidecar.onNotification("execute/output", ({ executionId, ...record }) => {
                const entry = this.entries.get(executionId);
                if (!entry) return;
                entry.live = record.seq + record.count;
                for (const following of entry.followers) following.notified(record);
            }),
            sidecar.onNotification("execute/progress", ({ executionId, server, tool, message }) => {
                const execution = this.get(executionId);
                if (!execution) return;
                execution.progress = message === undefined ? undefined : { call: `${server}, ${tool}`, message };
                this.changed.fire(execution);
            }),
            sidecar.onDidConnect((info) => void this.recover(info.lost ?? [])),
        ];
    }

    dispose(): void {
        for (const subscription of this.subscriptions) subscription.dispose();
        this.changed.dispose();
    }

    /** Oldest first. */
    all(): Execution[] {
        return [...this.entries.values()].map((entry) => entry.execution);
    }

    get(id: string): Execution | undefined {
        return this.entries.get(id)?.execution;
    }

    /** Its code asks this window for a line of input, or does not any more. */
    waitForInput(id: string, waits: boolean): void {
        const execution = this.get(id);
        if (!execution) return;
        execution.waitsForInput = waits;
        this.changed.fire(execution);
    }

    /** Those of a session that have not ended: the one that runs, and those that wait. */
    unfinished(sessionId: string): Execution[] {
        return this.all().filter((each) => each.sessionId === sessionId && each.state !== "finished");
    }

    /**
     * Runs code once `ready` is there, such as the session's start. The execution is in the model at once; `finished()`
     * tells its end.
     */
    execute(params: ExecuteParams & { sessionId: string }, ready: Promise<unknown> = Promise.resolve()): Execution {
        const id = randomUUID();
        const { sessionId, cell, code } = params;
        const entry = this.add({ id, sessionId, cell, code, state: "queued" }, 0);
        void this.run(entry, { ...params, executionId: id, changes: this.keepsChanges() }, ready);
        return entry.execution;
    }

    private async run(entry: Entry, params: ExecuteParams, ready: Promise<unknown>): Promise<void> {
        entry.awaited = true;
        entry.unsent = true;
        try {
            await ready;
        } catch (error) {
            this.finish(entry, { problem: error });
        }
        entry.unsent = false;
        if (entry.execution.state === "finished") return;
        try {
            this.finish(entry, { result: await this.sidecar.request("execute", params) });
        } catch (error) {
            entry.awaited = false;
            // Of a request that a lost connection took along, the next connection tells.
            if (!isConnectionLost(error)) this.finish(entry, { problem: error });
        }
    }

    /** Resolves when the execution has ended, at once if it has. */
    finished(execution: Execution): Promise<Execution> {
        const entry = this.entries.get(execution.id);
        return new Promise((resolve) => {
            if (!entry || entry.execution.state === "finished") resolve(execution);
            else entry.onFinished.push(() => resolve(execution));
        });
    }

    /** Gives `follower` every record from `fromSeq` on, once and in order. */
    follow(id: string, follower: Follower, fromSeq = 0): Disposable {
        const entry = this.entries.get(id);
        if (!entry) throw new Error(`no execution has the id ${id}`);
        const following = new Following(fromSeq, follower, (from) => this.read(id, from), () => entry.execution.state);
        entry.followers.add(following);
        following.catchUp(entry.live ?? Infinity);
        return { dispose: () => entry.followers.delete(following) };
    }

    /** A page of an execution's journal. */
    read(id: string, fromSeq: number, maxBytes = pageBytes): Promise<OutputReadResult> {
        return this.sidecar.request("output/read", { executionId: id, fromSeq, maxBytes });
    }

    async codeOf(execution: Execution): Promise<string> {
        execution.code ??= (await this.sidecar.request("execution/get", { executionId: execution.id })).code ?? "";
        return execution.code;
    }

    /** Removes it from the queue, or interrupts it. `kernelBusy`: it will not stop. */
    async cancel(execution: Execution): Promise<{ kernelBusy: boolean }> {
        const entry = this.entries.get(execution.id);
        if (entry?.unsent) {
            this.finish(entry, { problem: new Error("cancelled before its kernel was there") });
            return { kernelBusy: false };
        }
        return this.sidecar.request("execute/cancel", { executionId: execution.id });
    }

    /** From now on all executions of these sessions, and of no others, are in the model as they come. */
    attachTo(sessionIds: string[]): void {
        for (const id of this.attached) if (!sessionIds.includes(id)) this.attached.delete(id);
        for (const id of sessionIds) {
            // One that has just gone, or a connection that has, is reattached of by the next list.
            if (!this.attached.has(id)) this.attach(id).catch(() => this.attached.delete(id));
        }
    }

    private async attach(sessionId: string): Promise<string[]> {
        this.attached.add(sessionId);
        const { executions } = await this.sidecar.request("session/attach", { sessionId });
        for (const each of executions) this.addAttached(sessionId, each);
        return executions.map((each) => each.executionId);
    }

    /** An execution that somebody else asked for, in a session to which this window is attached. */
    private async fetchUnknown(id: string): Promise<void> {
        try {
            const { sessionId } = await this.sidecar.request("execution/get", { executionId: id });
            if (this.attached.has(sessionId)) await this.attach(sessionId);
        } catch (error) {
            // It, or its session, is gone already; without a connection the next one tells.
            if (kindOf(error) === "internalError") throw error;
        }
    }

    private addAttached(sessionId: string, { executionId, state, position, waitsBehind, nextSeq, cell, agent }: AttachedExecution): void {
        const over = state === "finished" || undefined;
        const entry = this.add({ id: executionId, sessionId, cell, agent, state: runningUntilResult(state), over, position }, nextSeq);
        // The answer may be older than what is known of it.
        entry.execution.over ??= over;
        entry.live = nextSeq;
        for (const following of entry.followers) following.catchUp(nextSeq);
        void this.move(entry, state, { position, waitsBehind });
    }

    /** On a new connection: what was lost, and what became of what had not ended. */
    private async recover(lost: LostWork[]): Promise<void> {
        for (const work of lost) {
            for (const { executionId, sessionId, cell } of work.executions) {
                this.add({ id: executionId, sessionId, cell, state: "running" }, undefined);
            }
        }
        const reattached = new Set<string>();
        for (const sessionId of this.attached) {
            try {
                for (const id of await this.attach(sessionId)) reattached.add(id);
            } catch (error) {
                if (kindOf(error) !== "sessionNotFound") return; // the connection is gone again
                this.attached.delete(sessionId);
            }
        }
        for (const entry of this.entries.values()) {
            const { id, state } = entry.execution;
            if (state !== "finished" && !entry.awaited && !reattached.has(id)) await this.recoverOne(entry);
        }
    }

    private async recoverOne(entry: Entry, again = true): Promise<void> {
        const { id } = entry.execution;
        let info: ExecutionInfo;
        try {
            info = await this.sidecar.request("execution/get", { executionId: id });
            if (!info.result) {
                await this.attach(info.sessionId);
                return;
            }
        } catch (error) {
            if (kindOf(error) === "sessionNotFound") {
                this.attached.delete(entry.execution.sessionId);
                if (again) {
                    await this.recoverOne(entry, false); // its journal is still there
                    return;
                }
            }
            if (kindOf(error) === "executionNotFound") {
                this.finish(entry, { problem: new Error("the connection broke before cellgate had read it: it did not run") });
            } else if (!isConnectionLost(error)) {
                this.finish(entry, { problem: error });
            }
            return;
        }
        for (const following of entry.followers) following.catchUp(Infinity);
        this.finish(entry, { result: info.result });
    }

    private add(execution: Execution, live: number | undefined): Entry {
        let entry = this.entries.get(execution.id);
        if (!entry) {
            entry = { execution, live, awaited: false, unsent: false, followers: new Set(), onFinished: [] };
            this.entries.set(execution.id, entry);
            this.evictFinished();
            this.changed.fire(execution);
        }
        return entry;
    }

    private async move(entry: Entry, state: Execution["state"], before: Pick<Execution, "position" | "waitsBehind">): Promise<void> {
        const { execution } = entry;
        if (state === "finished") {
            // The reply to `execute` brings the result to who asked; others fetch it.
            if (execution.state !== "finished" && !entry.awaited) await this.recoverOne(entry);
            return;
        }
        if (execution.state === "finished") return;
        if (state === "running" && execution.state === "queued") execution.startedAt = Date.now();
        execution.state = state;
        execution.position = before.position;
        execution.waitsBehind = before.waitsBehind;
        this.changed.fire(execution);
    }

    private finish(entry: Entry, how: Pick<Execution, "result" | "problem">): void {
        const { execution } = entry;
        if (execution.state === "finished") return;
        Object.assign(execution, how, { state: "finished", over: true, position: undefined, waitsBehind: undefined });
        this.changed.fire(execution);
        for (const following of entry.followers) following.maybeEnd();
        for (const tell of entry.onFinished.splice(0)) tell();
    }

    private evictFinished(): void {
        let excess = this.entries.size - maxFinished;
        for (const [id, { execution, followers }] of this.entries) {
            if (excess <= 0) return;
            if (execution.state === "finished" && followers.size === 0) {
                this.entries.delete(id);
                excess--;
            }
        }
    }
}

/** One follower's way through the records: pages of the journal up to a number, from there on what is notified. */
class Following {
    private target = 0;
    private reading = false;
    private ended = false;
    private backlog: OutputRecord[] = [];

    constructor(
        private next: number,
        private readonly follower: Follower,
        private readonly read: (fromSeq: number) => Promise<OutputReadResult>,
        private readonly state: () => Execution["state"],
    ) {}

    notified(record: OutputRecord): void {
        this.backlog.push(record);
        this.deliver();
    }

    /** Reads up to the record `target`, or to the end of the journal. */
    catchUp(target: number): void {
        this.target = target;
        this.deliver();
    }

    maybeEnd(): void {
        if (this.ended || this.reading || this.state() !== "finished") return;
        this.ended = true;
        this.follower.end?.();
    }

    private deliver(): void {
        while (!this.reading) {
            const first = this.backlog[0];
            if (this.next < this.target) {
                void this.readPages();
            } else if (!first) {
                this.maybeEnd();
                return;
            } else if (first.seq + first.count <= this.next) {
                this.backlog.shift();
            } else if (first.seq === this.next) {
                this.backlog.shift();
                this.deliverRecord(first);
            } else {
                // It lies beyond what is known, or begins before it: records were joined for sending.
                this.target = first.seq > this.next ? first.seq : first.seq + first.count;
            }
        }
    }

    private async readPages(): Promise<void> {
        this.reading = true;
        try {
            while (this.next < this.target) {
                const before = this.next;
                for (const record of (await this.read(before)).records) {
                    const left = this.target - record.seq;
                    if (left > 0) this.deliverRecord(record.count > left ? { ...record, count: left } : record);
                }
                // Nothing more yet; what is to come will be notified.
                if (this.next === before) {
                    this.target = before;
                    const gap = (this.backlog[0]?.seq ?? before) - before;
                    if (gap > 0) this.deliverRecord({ seq: before, count: gap, skippedBytes: 0 });
                }
            }
        } catch (error) {
            if (!isConnectionLost(error)) this.deliverRecord(unreadable(this.next, error));
            // Without a connection the next one goes on here.
            this.target = this.next;
            this.backlog = [];
        }
        this.reading = false;
        this.deliver();
    }

    private deliverRecord(record: OutputRecord): void {
        this.next = record.seq + record.count;
        this.follower.record(record);
    }
}

/** An execution counts as finished when its result is known. */
function runningUntilResult(state: Execution["state"]): Execution["state"] {
    return state === "finished" ? "running" : state;
}

function unreadable(seq: number, error: unknown): OutputRecord {
    const text = `\ncellgate cannot read the output of this execution: ${textOf(error)}\n`;
    return { seq, count: 1, output: { output_type: "stream", name: "stderr", text } };
}
