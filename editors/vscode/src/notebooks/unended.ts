// Which executions of notebooks' cells have not ended in their notebook yet, kept through a reload: what such a one put
// out while no window was there still belongs into its cell.

import type { Memento } from "vscode";

const key = "cellgate.unendedRuns";
const most = 200;

export class Unended {
    private readonly ids: Set<string>;

    constructor(private readonly memento: Memento) {
        this.ids = new Set(memento.get<string[]>(key, []));
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
        void this.memento.update(key, [...this.ids].slice(-most));
    }
}
