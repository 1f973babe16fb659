// `WaitingList` is what waits for a user, of one kind, from the sidecar's notifications. It is emptied when the connection
// ends: the sidecar notifies the next connection of everything that still waits.

import { Emitter, type Disposable, type Event } from "vscode-jsonrpc/node";
import type { Sidecar } from "../client/sidecar";
import type { ServerNotifications } from "../protocol/methods";

/** One that a user answered, or that ended in another way, while this window watched. */
export interface Ended<Item, How> {
    readonly item: Item;
    readonly how: How;
    /** Whether this window's own answer did it. */
    readonly here: boolean;
}

/** `Asked` and `Resolved`: the notifications by which something begins to wait, and ends. */
export abstract class WaitingList<
    Asked extends "approval/requested" | "elicitation/requested",
    Resolved extends "approval/resolved" | "elicitation/resolved",
> implements Disposable {
    private readonly waiting = new Map<string, ServerNotifications[Asked]>();
    private readonly answered = new Set<string>();
    private readonly changed = new Emitter<void>();
    private readonly ends = new Emitter<Ended<ServerNotifications[Asked], ServerNotifications[Resolved]>>();
    /** What waits is no longer what it was. */
    readonly onDidChange: Event<void> = this.changed.event;
    readonly onDidEnd = this.ends.event;
    private readonly subscriptions: Disposable[];

    constructor(
        sidecar: Pick<Sidecar, "onNotification" | "onDidChangeState">,
        asked: Asked,
        resolved: Resolved,
        private readonly idOf: (params: ServerNotifications[Asked] | ServerNotifications[Resolved]) => string,
    ) {
        this.subscriptions = [
            sidecar.onNotification(asked, (item) => {
                this.waiting.set(idOf(item), item);
                this.changed.fire();
            }),
            sidecar.onNotification(resolved, (how) => this.end(how)),
            sidecar.onDidChangeState(({ kind }) => {
                if (kind === "connected" || this.waiting.size === 0) return;
                this.waiting.clear();
                this.changed.fire();
            }),
        ];
    }

    dispose(): void {
        for (const subscription of this.subscriptions) subscription.dispose();
        this.changed.dispose();
        this.ends.dispose();
    }

    /** Oldest first. */
    all(): ServerNotifications[Asked][] {
        return [...this.waiting.values()];
    }

    get(id: string): ServerNotifications[Asked] | undefined {
        return this.waiting.get(id);
    }

    /** Sends an answer of this window. */
    protected async answer(ids: readonly string[], send: () => Promise<unknown>): Promise<void> {
        for (const id of ids) this.answered.add(id);
        try {
            await send();
        } catch (error) {
            for (const id of ids) this.answered.delete(id);
            throw error;
        }
    }

    private end(how: ServerNotifications[Resolved]): void {
        const id = this.idOf(how);
        const item = this.waiting.get(id);
        const here = this.answered.delete(id) && how.by === "user";
        if (!item) return;
        this.waiting.delete(id);
        this.ends.fire({ item, how, here });
        this.changed.fire();
    }
}
