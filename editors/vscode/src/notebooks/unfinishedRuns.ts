// `UnfinishedRuns` is the set of executions whose end their notebook has not shown yet. It is kept across reloads:
// output that arrived while no window was open still belongs in the cell.

import type { Memory } from "../documents";

const key = "cellgate.unfinishedRuns";
const maxRuns = 1000;

export class UnfinishedRuns {
    private readonly ids: Set<string>;

    constructor(private readonly memory: Memory) {
        this.ids = new Set(memory.get<string[]>(key, []));
    }

    has(id: string): boolean {
        return this.ids.has(id);
    }

    add(id: string): void {
        this.ids.add(id);
        this.keep();
    }

    delete(id: string): void {
        if (this.ids.delete(id)) this.keep();
    }

    private keep(): void {
        // Those whose notebook never came back are forgotten at some time.
        void this.memory.update(key, [...this.ids].slice(-maxRuns));
    }
}
