// The sidecar of a workspace folder, as the rest of the extension sees it: it is asked and it tells, over whichever
// Connection there is. When a connection ends, the next one is made, later each time; after five ends within three
// minutes it stays down until a person says `reconnect`. Requests made meanwhile wait for the next connection; requests
// that were under way when one ended are rejected, since nobody can tell what became of them here.

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

const endsInARow = 5;
const rowSeconds = 180;
const firstPauseSeconds = 0.25;
/** By then a slow machine has started a sidecar. A relay that is stuck says nothing at all. */
const answersWithinSeconds = 30;

type NotificationHandler = (params: never) => void;
type RequestHandler = (params: never, token: CancellationToken) => Promise<unknown>;

export class Sidecar implements Disposable {
    private readonly changed = new Emitter<SidecarState>();
    private readonly connected = new Emitter<InitializeResult>();
    readonly onDidChangeState: Event<SidecarState> = this.changed.event;
    /** A new conversation began: whoever keeps something of cellgate's has to fetch it anew. */
    readonly onDidConnect: Event<InitializeResult> = this.connected.event;

    private current: SidecarState = { kind: "stopped" };
    private connection: Connection | undefined;
    /** What is under way while there is none. */
    private attempt: AbortController | undefined;
    private pause: Disposable | undefined;
    private ends: number[] = [];
    private disposed = false;
    private readonly handlers = new Map<string, Set<NotificationHandler>>();
    private readonly answerers = new Map<string, RequestHandler>();

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

    /** A person's wish: at once, and with all attempts anew. */
    reconnect(): void {
        this.ends = [];
        this.pause?.dispose();
        if (this.connection) {
            this.connection.vanish();
            return;
        }
        this.giveUp("a person asked for another attempt");
        void this.connect();
    }

    async request<M extends keyof Requests>(
        method: M,
        params: Requests[M]["params"],
        token?: CancellationToken,
    ): Promise<Requests[M]["result"]> {
        return (await this.ready()).request(method, params, token);
    }

    onNotification<M extends keyof ServerNotifications>(
        method: M,
        handler: (params: ServerNotifications[M]) => void,
    ): Disposable {
        const handlers = this.handlers.get(method) ?? new Set();
        this.handlers.set(method, handlers.add(handler));
        return { dispose: () => handlers.delete(handler) };
    }

    /** One answerer for each method. */
    onRequest<M extends keyof ServerRequests>(
        method: M,
        answerer: (params: ServerRequests[M]["params"], token: CancellationToken) => Promise<ServerRequests[M]["result"]>,
    ): Disposable {
        this.answerers.set(method, answerer);
        return { dispose: () => this.answerers.delete(method) };
    }

    dispose(): void {
        this.disposed = true;
        this.pause?.dispose();
        this.giveUp("this window is closing");
        this.connection?.vanish();
        this.become({ kind: "stopped" });
        this.changed.dispose();
        this.connected.dispose();
    }

    private async connect(): Promise<void> {
        const attempt = (this.attempt = new AbortController());
        this.become({ kind: "connecting" });
        const patience = this.timing.after(answersWithinSeconds, () =>
            attempt.abort(new Error(`cellgate did not answer within ${answersWithinSeconds} s`)),
        );
        let connection: Connection;
        try {
            connection = await this.open(this.incoming, attempt.signal);
        } catch (error) {
            if (this.attempt === attempt) this.lose(error);
            return;
        } finally {
            patience.dispose();
        }
        if (this.attempt !== attempt) {
            connection.vanish();
            return;
        }
        this.attempt = undefined;
        this.connection = connection;
        const { name, version } = connection.info.serverInfo;
        this.log.info(`connected to ${name} ${version} as ${connection.info.role}`);
        this.connected.fire(connection.info);
        this.become({ kind: "connected", info: connection.info });
        const reason = await connection.ended;
        this.connection = undefined;
        this.lose(new Error(reason));
    }

    private giveUp(reason: string): void {
        const attempt = this.attempt;
        this.attempt = undefined;
        attempt?.abort(new Error(reason));
    }

    private lose(error: unknown): void {
        this.attempt = undefined;
        if (this.disposed) return;
        const reason = error instanceof Error ? error.message : String(error);
        this.log.warn(`not connected: ${reason}`);
        if (error instanceof Refused) {
            this.become({ kind: "failed", reason, hint: error.hint });
            return;
        }
        const now = this.timing.now();
        this.ends = [...this.ends.filter((end) => now - end < rowSeconds), now];
        if (this.ends.length > endsInARow) {
            this.become({ kind: "failed", reason });
            return;
        }
        const seconds = firstPauseSeconds * 2 ** (this.ends.length - 1);
        this.become({ kind: "waiting", seconds, reason });
        this.pause = this.timing.after(seconds, () => void this.connect());
    }

    private become(state: SidecarState): void {
        this.current = state;
        this.changed.fire(state);
    }

    private ready(): Promise<Connection> {
        this.start();
        return new Promise((resolve, reject) => {
            const look = (): boolean => {
                if (this.connection) resolve(this.connection);
                else if (this.disposed) reject(new NotConnected("this window is closing"));
                else if (this.current.kind === "failed") reject(new NotConnected(this.current.reason));
                else return false;
                return true;
            };
            if (look()) return;
            const watch = this.onDidChangeState(() => {
                if (look()) watch.dispose();
            });
        });
    }

    private readonly incoming: Incoming = {
        notification: (method, params) => {
            for (const handler of this.handlers.get(method) ?? []) handler(params as never);
        },
        request: async (method, params, token) => {
            const answerer = this.answerers.get(method);
            // -32601: as for a method that this client does not know.
            if (!answerer) throw new ResponseError(-32601, `this editor does not answer ${method}`);
            return (await answerer(params as never, token)) as never;
        },
    };
}
