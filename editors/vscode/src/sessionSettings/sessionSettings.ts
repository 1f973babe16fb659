// `SessionSettings` is what sessions are created with: the settings `cellgate.session.*`, and for single sessions what the
// user chose, which is kept for this workspace.

import * as vscode from "vscode";
import type { Memory } from "../documents";
import { createParams, type Chosen, type CreateParams } from "./values";

const memoryKey = "cellgate.sessionSettings";

export class SessionSettings {
    constructor(private readonly memory: Memory) {}

    /** Throws an Error where a setting does not fit. */
    createParams(sessionId: string): CreateParams {
        const settings = vscode.workspace.getConfiguration("cellgate.session");
        return createParams((name) => settings.get(name), this.chosen(sessionId));
    }

    chosen(sessionId: string): Chosen {
        return this.all()[sessionId] ?? {};
    }

    /** For the next time that this session is created. */
    async choose(sessionId: string, change: Chosen): Promise<void> {
        await this.memory.update(memoryKey, { ...this.all(), [sessionId]: { ...this.chosen(sessionId), ...change } });
    }

    private all(): Partial<Record<string, Chosen>> {
        return this.memory.get<Partial<Record<string, Chosen>>>(memoryKey, {});
    }
}
