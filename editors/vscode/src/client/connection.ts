// `Connection` is one conversation with a sidecar, from `initialize` to its end: JSON-RPC over the stdio of a child
// process, the relay `cellgate connect`. It never reconnects; `Sidecar` opens the next one. After its end the sidecar
// keeps kernels and approvals for `lingerSeconds`, as a reload of the window needs.

import { setImmediate as turn } from "node:timers/promises";
import { spawn, type ChildProcess } from "node:child_process";
import {
    createMessageConnection,
    StreamMessageReader,
    StreamMessageWriter,
    Trace,
    type CancellationToken,
    type Event,
    type MessageConnection,
} from "vscode-jsonrpc/node";
import { hintOf, isPeerError, messageOf, Refused, textOf } from "./errors";
import type { InitializeParams, InitializeResult } from "../protocol/messages";
import type { Notifications, Requests, ServerNotifications, ServerRequests } from "../protocol/methods";

export interface Launch {
    program: string;
    arguments: string[];
    cwd: string;
}

/** What a client does about what comes from cellgate. Anything else cellgate may send is answered by the protocol. */
export interface Incoming {
    notification<M extends keyof ServerNotifications>(method: M, params: ServerNotifications[M]): void;
    request<M extends keyof ServerRequests>(
        method: M,
        params: ServerRequests[M]["params"],
        token: CancellationToken,
    ): Promise<ServerRequests[M]["result"]>;
}

export interface Log {
    error(message: string): void;
    warn(message: string): void;
    info(message: string): void;
    debug(message: string): void;
}

/** How much of what is said goes to the log: a user may change it at any time. */
export interface Tracing {
    level(): TraceLevel;
    onDidChange: Event<unknown>;
}

export type TraceLevel = "off" | "messages" | "verbose";

/** Whether what a message says may have been typed unseen. */
const isSecret = (message: string) => message.includes("elicitation/respond") || message.includes("secret/set");

/** What stays of the relay's stderr, for the message that says why it ended. */
const maxErrorCharacters = 4000;
const turnsAfterEnd = 10;

export class Connection {
    /** Settled when the conversation has ended, with the reason in words. */
    readonly ended: Promise<string>;
    private constructor(
        private readonly child: ChildProcess,
        private readonly rpc: MessageConnection,
        ended: Promise<string>,
        readonly info: InitializeResult,
    ) {
        this.ended = ended;
    }

    /**
     * Starts the relay and introduces the client. Rejects with an Error whose message says why there is none: Refused
     * where cellgate itself said so, the signal's reason where that gave it up.
     */
    static async open(
        launch: Launch,
        introduction: InitializeParams,
        incoming: Incoming,
        log: Log,
        tracing: Tracing,
        signal: AbortSignal,
    ): Promise<Connection> {
        const child = spawn(launch.program, launch.arguments, {
            cwd: launch.cwd,
            stdio: ["pipe", "pipe", "pipe"],
        });
        const rpc = createMessageConnection(
            new StreamMessageReader(child.stdout),
            new StreamMessageWriter(child.stdin),
            { error: (m) => log.error(m), warn: (m) => log.warn(m), info: (m) => log.info(m), log: (m) => log.debug(m) },
        );
        const ended = endOf(child, log).then(async (reason) => {
            // What was read before the end is handled in later turns, such as the answer of one that ended on it.
            for (let i = 0; i < turnsAfterEnd; i++) await turn();
            watch.dispose();
            // Without this, requests that wait for an answer would wait for ever.
            rpc.dispose();
            return reason;
        });
        rpc.onNotification((method: string, params: unknown) => {
            incoming.notification(method as keyof ServerNotifications, params as never);
        });
        rpc.onRequest((method: string, params: unknown, token: CancellationToken) =>
            incoming.request(method as keyof ServerRequests, params as never, token),
        );
        rpc.onError(([error]) => log.error(`the relay's words cannot be read: ${error.message}`));
        const tracer = { log: (message: string, data?: string) => log.info(`${message} ${isSecret(message) ? "" : (data ?? "")}`.trimEnd()) };
        const watch = tracing.onDidChange(() => void rpc.trace(traceOf(tracing.level()), tracer));
        await rpc.trace(traceOf(tracing.level()), tracer);
        rpc.listen();
        try {
            const info = (await Promise.race([
                rpc.sendRequest("initialize", introduction),
                ended.then((reason) => Promise.reject(new Error(reason))),
                abortOf(signal),
            ])) as InitializeResult;
            await rpc.sendNotification("initialized", {});
            return new Connection(child, rpc, ended, info);
        } catch (error) {
            if (signal.aborted) {
                // It may hear nothing any more.
                child.kill("SIGKILL");
                throw error;
            }
            if (isPeerError(error)) {
                child.kill();
                throw new Refused(messageOf(error), hintOf(error));
            }
            // A relay that ended says more than the request that it left behind.
            const alive = child.pid !== undefined && child.exitCode === null && child.signalCode === null;
            child.kill();
            throw new Error(alive ? textOf(error) : await ended, { cause: error });
        }
    }

    request<M extends keyof Requests>(
        method: M,
        params: Requests[M]["params"],
        token?: CancellationToken,
    ): Promise<Requests[M]["result"]> {
        return token ? this.rpc.sendRequest(method, params, token) : this.rpc.sendRequest(method, params);
    }

    notify<M extends keyof Notifications>(method: M, params: Notifications[M]): Promise<void> {
        return this.rpc.sendNotification(method, params);
    }

    /** Goes without a goodbye. */
    terminate(): void {
        this.child.stdin?.end();
        this.child.kill();
    }
}

function abortOf(signal: AbortSignal): Promise<never> {
    return new Promise((_, reject) => {
        const give = () => reject(signal.reason instanceof Error ? signal.reason : new Error("it was given up"));
        if (signal.aborted) give();
        else signal.addEventListener("abort", give, { once: true });
    });
}

function traceOf(value: TraceLevel): Trace {
    return value === "off" ? Trace.Off : value === "messages" ? Trace.Messages : Trace.Verbose;
}

function endOf(child: ChildProcess, log: Log): Promise<string> {
    let words = "";
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
        words = (words + text).slice(-maxErrorCharacters);
        for (const line of text.split("\n")) if (line) log.info(line);
    });
    // A relay that is gone while something is written to it says so by its end.
    child.stdin?.on("error", () => undefined);
    return new Promise((resolve) => {
        child.once("error", (error) => resolve(`cannot start ${child.spawnfile}: ${error.message}`));
        child.once("close", (code, signal) => {
            const how = signal ? `was ended by ${signal}` : `ended with exit code ${code ?? "?"}`;
            resolve(words.trim() || `cellgate connect ${how}`);
        });
    });
}

