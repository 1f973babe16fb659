// `McpClient` is a conversation with `cellgate mcp`: MCP over JSON-RPC, one message a line, with the rights of an
// agent.

import { spawn, type ChildProcess } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import {
    AbstractMessageReader,
    AbstractMessageWriter,
    CancellationReceiverStrategy,
    createMessageConnection,
    type CancellationToken,
    type DataCallback,
    type Disposable,
    type Message,
    type MessageConnection,
    type MessageReader,
    type MessageWriter,
} from "vscode-jsonrpc/node";
import type { Launch, Log } from "../client/connection";

/** The version in which `cellgate mcp` is spoken to. */
const protocolVersion = "2025-06-18";

export interface ToolResult {
    content: ({ type: "text"; text: string } | { type: "image"; data: string; mimeType: string })[];
    isError?: boolean;
}

export class McpClient {
    private constructor(
        private readonly child: ChildProcess,
        private readonly rpc: MessageConnection,
        readonly ended: Promise<void>,
    ) {}

    static async open(launch: Launch, clientInfo: { name: string; version: string }, log: Log): Promise<McpClient> {
        const child = spawn(launch.program, launch.arguments, { cwd: launch.cwd, stdio: ["pipe", "pipe", "pipe"] });
        child.stderr.setEncoding("utf8").on("data", (text: string) => log.info(text.trimEnd()));
        // Of a child that is gone its end tells.
        child.stdin.on("error", () => undefined);
        const rpc = createMessageConnection(new LineReader(child.stdout), new LineWriter(child.stdin), undefined, {
            cancellationStrategy: {
                receiver: CancellationReceiverStrategy.Message,
                sender: {
                    sendCancellation: (connection, requestId) =>
                        connection.sendNotification("notifications/cancelled", { requestId }),
                    cleanup: () => undefined,
                },
            },
        });
        const ended = new Promise<void>((resolve) => {
            child.once("error", () => resolve());
            child.once("close", () => resolve());
        }).then(() => rpc.dispose());
        rpc.listen();
        const client = new McpClient(child, rpc, ended);
        await rpc.sendRequest("initialize", { protocolVersion, capabilities: {}, clientInfo });
        await rpc.sendNotification("notifications/initialized");
        return client;
    }

    callTool(name: string, input: object, token: CancellationToken): Promise<ToolResult> {
        return this.rpc.sendRequest("tools/call", { name, arguments: input }, token);
    }

    close(): void {
        this.child.stdin?.end();
        this.child.kill();
    }
}

class LineReader extends AbstractMessageReader implements MessageReader {
    constructor(private readonly stream: Readable) {
        super();
    }

    listen(callback: DataCallback): Disposable {
        let rest = "";
        const read = (text: string) => {
            const lines = (rest + text).split("\n");
            rest = lines.pop() ?? "";
            for (const line of lines) {
                try {
                    callback(JSON.parse(line) as Message);
                } catch (error) {
                    this.fireError(error instanceof Error ? error : new Error(String(error)));
                }
            }
        };
        this.stream.setEncoding("utf8").on("data", read);
        this.stream.on("close", () => this.fireClose());
        return { dispose: () => this.stream.off("data", read) };
    }
}

class LineWriter extends AbstractMessageWriter implements MessageWriter {
    constructor(private readonly stream: Writable) {
        super();
    }

    write(message: Message): Promise<void> {
        return new Promise((resolve, reject) => {
            this.stream.write(`${JSON.stringify(message)}\n`, (error) => (error ? reject(error) : resolve()));
        });
    }

    end(): void {
        this.stream.end();
    }
}
