// `Sidecar` is the workspace's sidecar for the rest of the extension, over whichever `Connection` is open. When a
// connection ends the next one is made, each time after a longer delay; after five ends within three minutes it stays
// down until the user runs `reconnect`. New requests wait for the next connection. Requests that were pending when one
// ended are rejected, because their outcome is unknown.

import { Emitter, ResponseError, type CancellationToken, type Disposable, type Event } from "vscode-jsonrpc/node";
import { NotConnected, Refused } from "./errors";
import type { InitializeResult } from "../protocol/messages";
import type { Requests, ServerNotifications, ServerRequests } from "../protocol/methods";
import type { Connection, Incoming, Log } from "./connection";

export type SidecarState =
    | { kind: "stopped" }
    | { kind: "connecting" }
    | { kind: "connected"; info: InitializeResult }
    | { kind: "waiting"; seconds: number; reason: string }
    | { kind: "failed"; reason: string; hint?: string };

/** What `Connection.open` needs is known outside; tests open what they like. The signal gives the attempt up. */
export type Open = (incoming: Incoming, signal: AbortSignal) => Promise<Connection>;

export interface Timing {
    now(): number;
    after(seconds: number, run: () => void): Disposable;
}

export const realTiming: Timing = {
    now: () => Date.now() / 1000,
    after(seconds, run) {
        const timer = setTimeout(run, seconds * 1000);
        return { dispose: () => clearTimeout(timer) };
    },
};

const maxEnds = 5;
const endsWindowSeconds = 180;
const firstRetrySeconds = 0.25;
/** By then a slow machine has started a sidecar. A relay that is stuck says nothing at all. */
const connectTimeoutSeconds = 30;

type NotificationHandler = (params: never) => void;
type RequestHandler = (params: never, token: CancellationToken) => Promise<unknown>;

export class Sidecar implements Disposable {
    private readonly changed = new Emitter<SidecarState>();
    private readonly connected = new Emitter<InitializeResult>();
    readonly onDidChangeState: Event<SidecarState> = this.changed.event;
    /** A new conversation began: models of the sidecar's state have to fetch it again. */
    readonly onDidConnect: Event<InitializeResult> = this.connected.event;

    private current: SidecarState = { kind: "stopped" };
    private connection: Connection | undefined;
    /** What is under way while there is none. */
    private attempt: AbortController | undefined;
    private retry: Disposable | undefined;
    private ends: number[] = [];
    private disposed = false;
    private readonly handlers = new Map<string, Set<NotificationHandler>>();
    private readonly requestHandlers = new Map<string, RequestHandler>();

    constructor(
        private readonly open: Open,
        private readonly log: Log,
        private readonly timing: Timing = realTiming,
    ) {}

    get state(): SidecarState {
        return this.current;
    }

    /** Makes the first connection; later calls do nothing. */
    start(): void {
        if (this.current.kind === "stopped") void this.connect();
    }

    /** At the user's request: immediately, and with the full number of attempts. */
    reconnect(): void {
        this.ends = [];
        this.retry?.dispose();
        if (this.connection) {
            this.connection.terminate();
            return;
        }
        this.abortAttempt("a user asked for another attempt");
        void this.connect();
    }

    async request<M extends keyof Requests>(
        method: M,
        params: Requests[M]["params"],
        token?: CancellationToken,
    ): Promise<Requests[M]["result"]> {
        return (await this.connectionReady()).request(method, params, token);
    }

    onNotification<M extends keyof ServerNotifications>(
        method: M,
        handler: (params: ServerNotifications[M]) => void,
    ): Disposable {
        const handlers = this.handlers.get(method) ?? new Set();
        this.handlers.set(method, handlers.add(handler));
        return { dispose: () => handlers.delete(handler) };
    }

    /** One handler for each method. */
    onRequest<M extends keyof ServerRequests>(
        method: M,
        handler: (params: ServerRequests[M]["params"], token: CancellationToken) => Promise<ServerRequests[M]["result"]>,
    ): Disposable {
        this.requestHandlers.set(method, handler);
        return { dispose: () => this.requestHandlers.delete(method) };
    }

    dispose(): void {
        this.disposed = true;
        this.retry?.dispose();
        this.abortAttempt("this window is closing");
        this.connection?.terminate();
        this.setState({ kind: "stopped" });
        this.changed.dispose();
        this.connected.dispose();
    }

    private async connect(): Promise<void> {
        const attempt = (this.attempt = new AbortController());
        this.setState({ kind: "connecting" });
        const timeout = this.timing.after(connectTimeoutSeconds, () =>
            attempt.abort(new Error(`cellgate did not answer within ${connectTimeoutSeconds} s`)),
        );
        let connection: Connection;
        try {
            connection = await this.open(this.incoming, attempt.signal);
        } catch (error) {
            if (this.attempt === attempt) this.handleEnd(error);
            return;
        } finally {
            timeout.dispose();
        }
        if (this.attempt !== attempt) {
            connection.terminate();
            return;
        }
        this.attempt = undefined;
        this.connection = connection;
        const { name, version } = connection.info.serverInfo;
        this.log.info(`connected to ${name} ${version} as ${connection.info.role}`);
        this.connected.fire(connection.info);
        this.setState({ kind: "connected", info: connection.info });
        const reason = await connection.ended;
        this.connection = undefined;
        this.handleEnd(new Error(reason));
    }

    private abortAttempt(reason: string): void {
        const attempt = this.attempt;
        this.attempt = undefined;
        attempt?.abort(new Error(reason));
    }

    private handleEnd(error: unknown): void {
        this.attempt = undefined;
        if (this.disposed) return;
        const reason = error instanceof Error ? error.message : String(error);
        this.log.warn(`not connected: ${reason}`);
        if (error instanceof Refused) {
            this.setState({ kind: "failed", reason, hint: error.hint });
            return;
        }
        const now = this.timing.now();
        this.ends = [...this.ends.filter((end) => now - end < endsWindowSeconds), now];
        if (this.ends.length > maxEnds) {
            this.setState({ kind: "failed", reason });
            return;
        }
        const seconds = firstRetrySeconds * 2 ** (this.ends.length - 1);
        this.setState({ kind: "waiting", seconds, reason });
        this.retry = this.timing.after(seconds, () => void this.connect());
    }

    private setState(state: SidecarState): void {
        this.current = state;
        this.changed.fire(state);
    }

    private connectionReady(): Promise<Connection> {
        this.start();
        return new Promise((resolve, reject) => {
            const settle = (): boolean => {
                if (this.connection) resolve(this.connection);
                else if (this.disposed) reject(new NotConnected("this window is closing"));
                else if (this.current.kind === "failed") reject(new NotConnected(this.current.reason));
                else return false;
                return true;
            };
            if (settle()) return;
            const watch = this.onDidChangeState(() => {
                if (settle()) watch.dispose();
            });
        });
    }

    private readonly incoming: Incoming = {
        notification: (method, params) => {
            for (const handler of this.handlers.get(method) ?? []) handler(params as never);
        },
        request: async (method, params, token) => {
            const handler = this.requestHandlers.get(method);
            // -32601: as for a method that this client does not know.
            if (!handler) throw new ResponseError(-32601, `this editor does not answer ${method}`);
            return (await handler(params as never, token)) as never;
        },
    };
}
