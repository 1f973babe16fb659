// `FakeMemory` is the storage that outlives a window, in memory.

import type { Memory } from "../src/documents";

export class FakeMemory implements Memory {
    private readonly values = new Map<string, unknown>();
    get<T>(key: string, otherwise: T): T {
        return (this.values.get(key) as T | undefined) ?? otherwise;
    }
    update(key: string, value: unknown): Promise<void> {
        this.values.set(key, structuredClone(value));
        return Promise.resolve();
    }
}
