// `Sessions` is the list of the workspace's sessions as they are now, including those of other windows and of agents.

import { Emitter, type Disposable, type Event } from "vscode-jsonrpc/node";
import { kindOf } from "./client/errors";
import type { Sidecar } from "./client/sidecar";
import type { LimitsSetParams, LimitsSetResult, SessionCreateParams, SessionInfo, SessionRestartParams } from "./protocol/messages";

export type Session = SessionInfo & {
    /** Why it has its status, such as how the kernel died. */
    reason?: string;
};

export class Sessions implements Disposable {
    private readonly sessions = new Map<string, Session>();
    private readonly changed = new Emitter<void>();
    readonly onDidChange: Event<void> = this.changed.event;
    private readonly lost = new Emitter<{ session: Session; reason: string }>();
    /** The kernel of a session has ended, and this window did not ask for it. */
    readonly onDidLoseKernel: Event<{ session: Session; reason: string }> = this.lost.event;
    /** Sessions whose kernel this window is ending. */
    private readonly ending = new Set<string>();
    /** Sessions that this window is closing, until the sidecar has answered. */
    private readonly closing = new Map<string, Promise<unknown>>();
    private readonly subscriptions: Disposable[];

    constructor(private readonly sidecar: Pick<Sidecar, "request" | "onNotification" | "onDidConnect">) {
        this.subscriptions = [
            sidecar.onDidConnect(() => this.look()),
            sidecar.onNotification("session/changed", ({ sessionId, status, reason }) => {
                const session = this.sessions.get(sessionId);
                // Whether a session is gone for good, or what a new one is, only the list tells.
                if (!session || status === "dead") this.look();
                if (!session) return;
                this.put({ ...session, status, reason });
                const ended = status === "restarting" || status === "dead";
                if (ended && reason && !this.ending.has(sessionId)) this.lost.fire({ session, reason });
            }),
        ];
    }

    dispose(): void {
        for (const subscription of this.subscriptions) subscription.dispose();
        this.changed.dispose();
        this.lost.dispose();
    }

    /** Oldest first. */
    all(): Session[] {
        return [...this.sessions.values()];
    }

    /** None that is being closed: what a user runs from then on is for the next one. */
    get(id: string): Session | undefined {
        return this.closing.has(id) ? undefined : this.sessions.get(id);
    }

    /** Starts a kernel; when the session is there already, that one, whatever its kernel is. */
    async ensure(params: SessionCreateParams & { sessionId: string }): Promise<{ session: Session; isNew: boolean }> {
        await this.closing.get(params.sessionId)?.catch(() => undefined);
        const known = this.sessions.get(params.sessionId);
        if (known) return { session: known, isNew: false };
        try {
            return { session: this.put(await this.sidecar.request("session/create", params)), isNew: true };
        } catch (error) {
            if (kindOf(error) !== "sessionExists") throw error;
            await this.refresh();
            return this.ensure(params);
        }
    }

    async restart(params: SessionRestartParams): Promise<void> {
        this.put(await this.byUs(params.sessionId, this.sidecar.request("session/restart", params)));
    }

    async setLimits(params: LimitsSetParams): Promise<LimitsSetResult> {
        const result = await this.sidecar.request("limits/set", params);
        const session = this.sessions.get(params.sessionId);
        if (session) this.put({ ...session, limits: result.limits });
        return result;
    }

    async interrupt(sessionId: string): Promise<void> {
        await this.sidecar.request("session/interrupt", { sessionId });
    }

    async close(sessionId: string): Promise<void> {
        const closed = this.byUs(sessionId, this.sidecar.request("session/close", { sessionId }));
        this.closing.set(sessionId, closed);
        try {
            await closed;
            this.sessions.delete(sessionId);
        } finally {
            this.closing.delete(sessionId);
        }
        this.changed.fire();
    }

    private async byUs<T>(sessionId: string, answer: Promise<T>): Promise<T> {
        this.ending.add(sessionId);
        try {
            return await answer;
        } finally {
            this.ending.delete(sessionId);
        }
    }

    /** Where the connection breaks meanwhile, the next one looks again. */
    private look(): void {
        this.refresh().catch(() => undefined);
    }

    private async refresh(): Promise<void> {
        const { sessions } = await this.sidecar.request("session/list", {});
        const reasons = new Map(this.all().map(({ sessionId, reason }) => [sessionId, reason]));
        this.sessions.clear();
        for (const session of sessions) {
            this.sessions.set(session.sessionId, { ...session, reason: reasons.get(session.sessionId) });
        }
        this.changed.fire();
    }

    private put(session: Session): Session {
        this.sessions.set(session.sessionId, session);
        this.changed.fire();
        return session;
    }
}
