// `ToolServers` is the list of the workspace's tool servers. The sidecar does not notify of changes: every event that
// may have caused one requests the list again.

import { Emitter, type Disposable, type Event } from "vscode-jsonrpc/node";
import type { Sidecar } from "../client/sidecar";
import type { ToolServerInfo } from "../protocol/messages";

export class ToolServers implements Disposable {
    private servers: ToolServerInfo[] = [];
    private asking: Promise<void> | undefined;
    private askAgain = false;
    private readonly changed = new Emitter<void>();
    readonly onDidChange: Event<void> = this.changed.event;

    constructor(private readonly sidecar: Pick<Sidecar, "request">) {}

    dispose(): void {
        this.changed.dispose();
    }

    all(): readonly ToolServerInfo[] {
        return this.servers;
    }

    /** Resolves when the list is one that was asked for after this. */
    async refresh(): Promise<void> {
        this.askAgain = true;
        this.asking ??= this.ask().finally(() => (this.asking = undefined));
        await this.asking;
    }

    private async ask(): Promise<void> {
        while (this.askAgain) {
            this.askAgain = false;
            const { servers } = await this.sidecar.request("toolServers/list", {});
            this.servers = servers;
            this.changed.fire();
        }
    }
}
