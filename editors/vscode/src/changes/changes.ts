// `Changes` is the model of which executions changed files of the workspace, and which undos, newest first. The sidecar
// notifies of each; those from before this window are in the record.

import { Emitter, type Disposable, type Event } from "vscode-jsonrpc/node";
import type { Sidecar } from "../client/sidecar";
import type { ChangesFoundParams, RecordEntry } from "../protocol/messages";

const maxKept = 1000;
/** So many of the record's newest. */
const maxRestored = 100;

export class Changes implements Disposable {
    private readonly byId = new Map<string, ChangesFoundParams>();
    private readonly changed = new Emitter<void>();
    readonly onDidChange: Event<void> = this.changed.event;
    private readonly found = new Emitter<ChangesFoundParams>();
    /** Something has changed files just now. */
    readonly onDidFind: Event<ChangesFoundParams> = this.found.event;
    private readonly subscriptions: Disposable[];

    constructor(private readonly sidecar: Pick<Sidecar, "request" | "onNotification" | "onDidConnect">) {
        this.subscriptions = [
            sidecar.onNotification("changes/found", (found) => {
                this.add([found]);
                this.found.fire(found);
            }),
            sidecar.onDidConnect(() => void this.restore()),
        ];
    }

    dispose(): void {
        for (const subscription of this.subscriptions) subscription.dispose();
        this.changed.dispose();
        this.found.dispose();
    }

    /** Newest first. */
    all(): ChangesFoundParams[] {
        return [...this.byId.values()].reverse();
    }

    get(id: string): ChangesFoundParams | undefined {
        return this.byId.get(id);
    }

    /** All of its files are as before, by an undo that was not undone. */
    isUndone(id: string): boolean {
        const found = this.get(id);
        const undo = this.all().find(({ undoOf }) => undoOf === id);
        return found !== undefined && undo !== undefined && undo.files >= found.files && !this.isUndone(undo.executionId);
    }

    private add(more: readonly ChangesFoundParams[]): void {
        for (const found of more) this.byId.set(found.executionId, found);
        for (const id of this.byId.keys()) {
            if (this.byId.size <= maxKept) break;
            this.byId.delete(id);
        }
        this.changed.fire();
    }

    private async restore(): Promise<void> {
        try {
            const { entries } = await this.sidecar.request("record/query", { types: ["files.changed", "files.restored"], limit: maxRestored });
            const known = [...this.byId.values()];
            const older = entries.flatMap(foundOf).filter(({ executionId }) => !this.byId.has(executionId));
            this.byId.clear();
            this.add([...older.reverse(), ...known]);
        } catch {
            // Without a record, or a connection, those that come are known.
        }
    }
}

/** Of an entry that is not what its type says (a record can be changed), nothing. */
function foundOf({ executionId, sessionId, data }: RecordEntry): ChangesFoundParams[] {
    const { files, complete } = data;
    if (executionId === undefined || typeof files !== "number" || typeof complete !== "boolean") return [];
    const text = (value: unknown) => (typeof value === "string" ? value : undefined);
    return [{ executionId, sessionId, agent: text(data.agent), files, complete, undoOf: text(data.undoOf) }];
}
