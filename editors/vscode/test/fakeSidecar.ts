// `FakeSidecar` is a sidecar in memory, as the models see one: it answers from its journals, and the test sends its
// notifications and ends its connection.

import { Emitter, ResponseError } from "vscode-jsonrpc/node";
import type { Sidecar } from "../src/client/sidecar";
import type { AttachedExecution, ExecuteResult, InitializeResult, OutputRecord } from "../src/protocol/messages";
import type { Requests } from "../src/protocol/methods";

export const info: InitializeResult = {
    serverInfo: { name: "cellgate", version: "0.1.0" },
    protocolVersion: "1",
    role: "user",
    capabilities: {},
};

export const resultOf = (executionId: string, more: Partial<ExecuteResult> = {}): ExecuteResult => ({
    executionId,
    status: "ok",
    executionCount: 1,
    outputBytes: 0,
    truncated: false,
    durationSeconds: 0.1,
    waitedSeconds: 0,
    layers: ["bwrap"],
    ...more,
});

export const problem = (kind: string) => new ResponseError(1000, kind, { kind, hint: "" });

const textRecord = (seq: number): OutputRecord => ({
    seq,
    count: 1,
    output: { output_type: "stream", name: "stdout", text: `${seq} ` },
});

interface Run {
    sessionId: string;
    records: OutputRecord[];
    state: AttachedExecution["state"];
    result?: ExecuteResult;
    reply?: { resolve(result: ExecuteResult): void; reject(error: unknown): void };
}

type Asked = { [M in keyof Requests]: { method: M; params: Requests[M]["params"] } }[keyof Requests];

export class FakeSidecar implements Pick<Sidecar, "request" | "onNotification" | "onDidConnect"> {
    readonly runs = new Map<string, Run>();
    readonly asked: Asked[] = [];
    sessions: string[] = ["s"];
    /** Pages hold so many records. */
    pageSize = 3;
    /** Called before a page is answered. */
    beforePage: () => void = () => undefined;
    private readonly connects = new Emitter<InitializeResult>();
    readonly onDidConnect = this.connects.event;
    private readonly handlers = new Map<string, (params: never) => void>();

    onNotification(method: string, handler: (params: never) => void): { dispose(): void } {
        this.handlers.set(method, handler);
        return { dispose: () => this.handlers.delete(method) };
    }

    tell(method: string, params: object): void {
        this.handlers.get(method)?.(params as never);
    }

    connect(lost: InitializeResult["lost"] = []): void {
        this.connects.fire({ ...info, lost });
    }

    /** The connection ends: what was asked is never answered. */
    disconnect(): void {
        for (const run of this.runs.values()) run.reply?.reject(new ResponseError(-32097, "pending response rejected"));
    }

    run(id: string, state: AttachedExecution["state"] = "running", sessionId = "s"): Run {
        const run: Run = { sessionId, records: [], state };
        this.runs.set(id, run);
        return run;
    }

    /** The code prints: into the journal, and (unless this client is not told) as one joined record. */
    print(id: string, count = 1, told = true): void {
        const { records } = this.found(id);
        const seq = records.length;
        for (let i = 0; i < count; i++) records.push(textRecord(seq + i));
        if (told) this.announce(id, seq, count);
    }

    announce(id: string, seq: number, count: number): void {
        const texts = this.found(id).records.slice(seq, seq + count).map((record) => textOf(record));
        const output = { output_type: "stream", name: "stdout", text: texts.join("") };
        this.tell("execute/output", { executionId: id, seq, count, output });
    }

    countOf(id: string): number {
        return this.found(id).records.length;
    }

    finish(id: string, more: Partial<ExecuteResult> = {}): void {
        const run = this.found(id);
        run.state = "finished";
        run.result = resultOf(id, more);
        this.tell("execute/changed", { executionId: id, state: "finished" });
        run.reply?.resolve(run.result);
    }

    async request<M extends keyof Requests>(method: M, params: Requests[M]["params"]): Promise<Requests[M]["result"]> {
        this.asked.push({ method, params } as Asked);
        return (await this.answer({ method, params } as Asked)) as Requests[M]["result"];
    }

    private async answer({ method, params }: Asked): Promise<unknown> {
        switch (method) {
            case "execute": {
                const id = params.executionId ?? "";
                const run = this.run(id, "queued", params.sessionId);
                const reply = new Promise((resolve, reject) => (run.reply = { resolve, reject }));
                this.tell("execute/changed", { executionId: id, state: "queued", position: 0 });
                return reply;
            }
            case "session/attach": {
                if (!this.sessions.includes(params.sessionId)) throw problem("sessionNotFound");
                const executions = [...this.runs]
                    .filter(([, run]) => run.sessionId === params.sessionId)
                    .map(([executionId, { state, records }]) => ({ executionId, state, nextSeq: records.length }));
                return { executions };
            }
            case "execution/get": {
                const { state, result, sessionId } = this.found(params.executionId);
                return { executionId: params.executionId, sessionId, state, result, code: "pass" };
            }
            case "output/read": {
                await Promise.resolve();
                this.beforePage();
                const { records, state } = this.found(params.executionId);
                const page = records.slice(params.fromSeq, (params.fromSeq ?? 0) + this.pageSize);
                const nextSeq = (params.fromSeq ?? 0) + page.length;
                return { records: page, nextSeq, complete: state === "finished" && nextSeq === records.length, droppedBytes: 0 };
            }
            case "execute/cancel":
                return { kernelBusy: false };
            default:
                throw new Error(`the fake does not answer ${method}`);
        }
    }

    private found(id: string): Run {
        const run = this.runs.get(id);
        if (!run) throw problem("executionNotFound");
        return run;
    }
}

export function textOf({ output, skippedBytes }: OutputRecord): string {
    if (skippedBytes !== undefined) return "(skipped)";
    return output?.output_type === "stream" ? output.text : "";
}
