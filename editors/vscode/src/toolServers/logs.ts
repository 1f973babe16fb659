// `ServerLogs` shows what tool servers wrote to stderr: each has a channel of the output view, as the editor's own MCP
// servers have.

import * as vscode from "vscode";
import type { Sidecar } from "../client/sidecar";
import { escapeLines, label } from "../text";
import { stateOf } from "./labels";
import type { ToolServers } from "./servers";

export class ServerLogs implements vscode.Disposable {
    private readonly channels = new Map<string, vscode.OutputChannel>();

    constructor(
        private readonly sidecar: Pick<Sidecar, "request">,
        private readonly servers: ToolServers,
    ) {}

    dispose(): void {
        for (const channel of this.channels.values()) channel.dispose();
    }

    async show(server: string): Promise<void> {
        const { text } = await this.sidecar.request("toolServers/log", { server });
        const channel = this.channelOf(server);
        channel.replace(escapeLines(`${this.headOf(server)}\n\n${text || "It has written nothing to stderr."}`));
        channel.show(true);
    }

    private headOf(name: string): string {
        const server = this.servers.all().find((each) => each.name === name);
        if (!server) return "not configured any more";
        return `${stateOf(server)}${server.error === undefined ? "" : `: ${server.error}`}`;
    }

    private channelOf(server: string): vscode.OutputChannel {
        const known = this.channels.get(server);
        if (known) return known;
        const channel = vscode.window.createOutputChannel(`cellgate: ${label(server)}`, "log");
        this.channels.set(server, channel);
        return channel;
    }
}
