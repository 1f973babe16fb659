// Which executions of notebooks' cells have not ended in their notebook yet, kept through a reload: what such a one put
// out while no window was there still belongs into its cell.

import type { Memory } from "../documents";

const key = "cellgate.unendedRuns";
const most = 1000;

export class Unended {
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
        void this.memory.update(key, [...this.ids].slice(-most));
    }
}
