// `LoginOffers` notices cells that failed because a tool server wants a login. The words of an error come from code, so
// they only choose among the servers that need a login by the sidecar's own list.

import type { Disposable } from "vscode-jsonrpc/node";
import type { Execution, Executions } from "../executions";
import type { ToolServerInfo } from "../protocol/messages";

export class LoginOffers implements Disposable {
    private readonly subscription: Disposable;
    private readonly judged = new Set<string>();
    /** Servers of which an offer is shown. */
    private readonly offered = new Set<string>();

    /** `servers`: a list that is asked for now. `offer` resolves when it is no longer shown. */
    constructor(
        executions: Pick<Executions, "onDidChange">,
        private readonly servers: () => Promise<readonly ToolServerInfo[]>,
        private readonly offer: (server: string) => Promise<unknown>,
    ) {
        this.subscription = executions.onDidChange((execution) => void this.judge(execution));
    }

    dispose(): void {
        this.subscription.dispose();
    }

    private async judge({ id, result }: Execution): Promise<void> {
        const words = result?.error?.evalue;
        if (!words?.includes("cellgate login ") || this.judged.has(id)) return;
        this.judged.add(id);
        // Without a list there is nothing to log in to.
        const servers = await this.servers().catch(() => []);
        const server = servers.find(({ name, authorization }) => authorization === "needed" && names(words, name))?.name;
        if (server === undefined || this.offered.has(server)) return;
        this.offered.add(server);
        await this.offer(server).finally(() => this.offered.delete(server));
    }
}

/** Whether the text has the command for that server, and not for one whose name begins alike. */
function names(words: string, server: string): boolean {
    const command = `cellgate login ${server}`;
    const at = words.indexOf(command);
    return at >= 0 && !/[\w.-]/.test(words.charAt(at + command.length));
}
