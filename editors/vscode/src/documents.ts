// `Documents` maps each document to the session that runs its cells: one of its own, unless the user chose another. The
// id of its own session follows from the document's path in the workspace, so that it is the same in every window and
// editor.

import { createHash } from "node:crypto";
import { Emitter, type Event } from "vscode-jsonrpc/node";

/** What lasts beyond the window, as vscode.Memento. */
export interface Memory {
    get<T>(key: string, otherwise: T): T;
    update(key: string, value: unknown): Thenable<void>;
}

const memoryKey = "cellgate.chosenSessions";
// Sessions of documents that had another name when those began.
const movedKey = "cellgate.movedSessions";

export class Documents {
    private readonly changed = new Emitter<string>();
    /** The document of this URI has another session. */
    readonly onDidChange: Event<string> = this.changed.event;

    constructor(
        private readonly memory: Memory,
        private readonly rootUri: string,
    ) {}

    /** `language`: of its cells that are in another one than the document. */
    sessionOf(uri: string, language?: string): string {
        if (language !== undefined) return ownSessionOf(`${this.nameOf(uri)}\n${language}`);
        return this.chosen()[uri] ?? this.ownOf(uri);
    }

    /** Of a document that has another URI now; what has the old one from then on is another document. */
    async move(from: string, to: string): Promise<void> {
        const own = this.ownOf(from);
        const chosen = this.chosen()[from];
        const moved = this.moved();
        Reflect.deleteProperty(moved, from);
        if (own === ownSessionOf(this.nameOf(to))) Reflect.deleteProperty(moved, to);
        else moved[to] = own;
        await this.memory.update(movedKey, moved);
        await this.choose(from, undefined);
        await this.choose(to, chosen);
    }

    /** `sessionId` undefined: its own again. */
    async choose(uri: string, sessionId: string | undefined): Promise<void> {
        const chosen = this.chosen();
        if (sessionId === undefined) Reflect.deleteProperty(chosen, uri);
        else chosen[uri] = sessionId;
        await this.memory.update(memoryKey, chosen);
        this.changed.fire(uri);
    }

    /** The path below the root, else the whole URI. */
    private nameOf(uri: string): string {
        return uri.startsWith(`${this.rootUri}/`) ? decodeURIComponent(uri.slice(this.rootUri.length + 1)) : uri;
    }

    private ownOf(uri: string): string {
        const moved = this.moved();
        const taken = new Set(Object.values(moved));
        const name = this.nameOf(uri);
        // A file by the name that another one had.
        return moved[uri] ?? [name, ...Array.from(taken, (_, index) => `${name}\n${index}`)].map(ownSessionOf).find((id) => !taken.has(id)) ?? ownSessionOf(name);
    }

    private chosen(): Record<string, string> {
        return { ...this.memory.get<Record<string, string>>(memoryKey, {}) };
    }

    private moved(): Record<string, string> {
        return { ...this.memory.get<Record<string, string>>(movedKey, {}) };
    }
}

/** `plan.py` → `plan.py-3f1c0a5e`. The name is for users; the hash distinguishes files of the same name. */
export function ownSessionOf(name: string): string {
    const hash = createHash("sha256").update(name).digest("hex").slice(0, 8);
    const readable = (name.split("/").at(-1) ?? "")
        .replace(/[^A-Za-z0-9_.-]+/g, "-")
        .replace(/^[.-]+/, "")
        // Sessions that agents make begin so, and no document shall run in one of them unasked.
        .replace(/^agent-/, "agent_")
        .slice(0, 50);
    return readable ? `${readable}-${hash}` : `cells-${hash}`;
}
