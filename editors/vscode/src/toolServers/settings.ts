// `ConfiguredServers` keeps the tool servers of the user's settings configured in each sidecar that this window
// connects to.

import type { Sidecar } from "../client/sidecar";
import type { McpServerConfig } from "../protocol/messages";

export class ConfiguredServers {
    /** Those that the sidecar was given, as text. */
    private given = new Map<string, string>();

    constructor(
        private readonly sidecar: Pick<Sidecar, "request">,
        private readonly settings: () => Record<string, McpServerConfig>,
        private readonly tell: (name: string, error: unknown) => void,
    ) {}

    /** Another sidecar may be there, which knows of none. */
    async begin(): Promise<void> {
        this.given.clear();
        await this.apply();
    }

    async apply(): Promise<void> {
        const wanted = this.settings();
        for (const server of this.given.keys()) {
            if (server in wanted) continue;
            this.given.delete(server);
            await this.attempt(server, () => this.sidecar.request("toolServers/remove", { server }));
        }
        for (const [server, config] of Object.entries(wanted)) {
            const text = JSON.stringify(config);
            if (this.given.get(server) === text) continue;
            this.given.set(server, text);
            await this.attempt(server, () => this.sidecar.request("toolServers/add", { server, config }));
        }
    }

    private async attempt(server: string, action: () => Promise<unknown>): Promise<void> {
        try {
            await action();
        } catch (error) {
            this.tell(server, error);
        }
    }
}
