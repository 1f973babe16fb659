// `EditBursts` gathers what an agent's executions change within a second, so that one message reports it.

import type { Disposable } from "vscode-jsonrpc/node";
import { realTiming, type Timing } from "../client/sidecar";

export interface AgentEdit {
    readonly executionId: string;
    readonly agent: string;
    /** Of the workspace, that are open. */
    readonly paths: readonly string[];
    /** Those of them of which the user has unsaved changes. */
    readonly unsaved: readonly string[];
}

const burstSeconds = 1;

export class EditBursts implements Disposable {
    /** By agent. */
    private readonly waiting = new Map<string, { edits: AgentEdit[]; timer: Disposable }>();

    constructor(
        private readonly tell: (edits: readonly AgentEdit[]) => void,
        private readonly timing: Pick<Timing, "after"> = realTiming,
    ) {}

    /** Reported a second after the agent's first one, with those that came meanwhile. */
    add(edit: AgentEdit): void {
        const { agent } = edit;
        const burst = this.waiting.get(agent);
        if (burst) {
            burst.edits.push(edit);
            return;
        }
        const edits = [edit];
        const timer = this.timing.after(burstSeconds, () => {
            this.waiting.delete(agent);
            this.tell(edits);
        });
        this.waiting.set(agent, { edits, timer });
    }

    dispose(): void {
        for (const { timer } of this.waiting.values()) timer.dispose();
    }
}
