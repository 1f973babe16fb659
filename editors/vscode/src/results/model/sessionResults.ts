// `SessionResults` is the results of one session in the order of their requests, each an execution with its outputs.
// They are made from the model of executions, so they are the same after a reload. Of finished executions the last ones
// are kept, by number and by size; the journal has the others.

import { Emitter, type Disposable, type Event } from "vscode-jsonrpc/node";
import { textOf } from "../../client/errors";
import type { Execution, Executions } from "../../executions";
import type { ShownNote } from "../messages";
import { Outputs } from "./outputs";
import { namesOf } from "../../packages/install";
import { remedyKind } from "./remedy";

export interface Result {
    readonly execution: Execution;
    readonly code: string;
    readonly outputs: Outputs;
    /** It has ended, and all of its output is here but what comes late. */
    readonly complete: boolean;
    /** Grows with each change. */
    readonly revision: number;
}

type MutableResult = { -readonly [K in keyof Result]: Result[K] };

const maxResults = 200;
const maxBytes = 16 << 20;

export class SessionResults implements Disposable {
    private readonly byId = new Map<string, MutableResult>();
    /** Those that have been let go, so that nothing of theirs brings them back. */
    private readonly evicted = new Set<string>();
    /** Those whose code is being fetched. */
    private readonly codeless = new Set<Result>();
    /** Who shows the display of an id. */
    private readonly displays = new Map<string, Set<MutableResult>>();
    private readonly followings = new Map<string, Disposable>();
    /** How many results have been let go. */
    earlier = 0;
    private readonly subscription: Disposable;
    private readonly extended = new Emitter<Result>();
    private readonly changed = new Emitter<Result>();
    /** There is one more. */
    readonly onDidExtend: Event<Result> = this.extended.event;
    private readonly cleared = new Emitter<void>();
    /** All that had ended was let go. */
    readonly onDidClear: Event<void> = this.cleared.event;
    /** An execution moved on, or put something out. */
    readonly onDidChange: Event<Result> = this.changed.event;

    constructor(
        readonly sessionId: string,
        private readonly executions: Pick<Executions, "all" | "onDidChange" | "follow" | "codeOf">,
    ) {
        this.subscription = executions.onDidChange((execution) => this.take(execution));
        for (const execution of executions.all()) this.take(execution);
    }

    dispose(): void {
        this.subscription.dispose();
        for (const following of this.followings.values()) following.dispose();
        this.extended.dispose();
        this.changed.dispose();
        this.cleared.dispose();
    }

    /** Those whose code is known. */
    all(): Result[] {
        return [...this.byId.values()].filter((result) => !this.codeless.has(result));
    }

    get(executionId: string): Result | undefined {
        const result = this.byId.get(executionId);
        return result && !this.codeless.has(result) ? result : undefined;
    }

    /** Lets go of all that has ended. */
    clear(): void {
        for (const result of this.finished()) this.evict(result);
        this.cleared.fire();
    }

    private finished(): MutableResult[] {
        return [...this.byId.values()].filter(({ execution }) => execution.state === "finished");
    }

    /** The last one stays, however large. */
    private enforceLimits(): void {
        let left = this.byId.size;
        let bytes = 0;
        for (const { outputs } of this.byId.values()) bytes += outputs.bytes;
        for (const result of this.finished()) {
            if (left <= 1 || (left <= maxResults && bytes <= maxBytes)) return;
            left--;
            bytes -= result.outputs.bytes;
            this.evict(result);
        }
    }

    private evict(result: MutableResult): void {
        const { id } = result.execution;
        this.byId.delete(id);
        this.codeless.delete(result);
        this.followings.get(id)?.dispose();
        this.followings.delete(id);
        for (const [displayId, showing] of this.displays) {
            if (showing.delete(result) && showing.size === 0) this.displays.delete(displayId);
        }
        this.evicted.add(id);
        this.earlier++;
    }

    private take(execution: Execution): void {
        if (execution.sessionId !== this.sessionId || this.evicted.has(execution.id)) return;
        const known = this.byId.get(execution.id);
        if (known) {
            this.addNotes(known);
            this.touch(known);
            return;
        }
        const outputs = new Outputs((displayId) => {
            const showing = this.displays.get(displayId) ?? new Set();
            this.displays.set(displayId, showing.add(result));
        });
        const result: MutableResult = { execution, code: execution.code ?? "", outputs, complete: false, revision: 0 };
        this.byId.set(execution.id, result);
        this.enforceLimits();
        this.followings.set(
            execution.id,
            this.executions.follow(execution.id, {
                record: (record) => {
                    const update = outputs.add(record);
                    if (update) this.update(update.displayId, update.content);
                    else this.touch(result);
                },
                end: () => {
                    result.complete = true;
                    this.addNotes(result);
                    this.touch(result);
                },
            }),
        );
        this.addNotes(result);
        if (execution.code === undefined) {
            this.codeless.add(result);
            void codeOrReason(this.executions, execution).then((code) => {
                result.code = code;
                if (this.codeless.delete(result)) this.extended.fire(result);
            });
        } else {
            this.extended.fire(result);
        }
    }

    private update(displayId: string, content: Parameters<Outputs["update"]>[1]): void {
        for (const result of this.displays.get(displayId) ?? []) {
            if (result.outputs.update(displayId, content)) this.touch(result);
        }
    }

    private touch(result: MutableResult): void {
        result.revision++;
        this.changed.fire(result);
    }

    /** What the end of an execution adds to its output. */
    private addNotes({ execution: { result, problem }, outputs }: Result): void {
        if (result?.error) outputs.setFrames(result.error.frames);
        const notes: ShownNote[] = (result?.notes ?? []).map((note, index) => {
            const kind = remedyKind(note);
            const packages = note.install && namesOf(note.install);
            return { text: note.text, remedy: note.remedy, action: kind && { index, kind, packages } };
        });
        if (result?.reason) notes.unshift({ text: result.reason, remedy: "" });
        if (result?.truncated && result.outputProblem) notes.push({ text: result.outputProblem, remedy: "" });
        if (problem !== undefined) notes.push({ text: `It did not run: ${textOf(problem)}`, remedy: "" });
        outputs.setNotes(notes);
    }
}

/** The code, or in its place why it is not known. */
export function codeOrReason(executions: Pick<Executions, "codeOf">, execution: Execution): Promise<string> {
    return executions
        .codeOf(execution)
        .catch((error: unknown) => `# cellgate does not know this code any more: ${textOf(error).replaceAll("\n", " ")}`);
}
