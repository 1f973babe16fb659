// The sessions of the root as they are now, whoever made them.

import { Emitter, type Disposable, type Event } from "vscode-jsonrpc/node";
import { kindOf } from "./client/errors";
import type { Sidecar } from "./client/sidecar";
import type { SessionCreateParams, SessionInfo, SessionRestartParams } from "./protocol/messages";

export type Session = SessionInfo & {
    /** Why it has its status, such as how the kernel died. */
    reason?: string;
};

export class Sessions implements Disposable {
    private readonly sessions = new Map<string, Session>();
    private readonly changed = new Emitter<void>();
    readonly onDidChange: Event<void> = this.changed.event;
    private readonly subscriptions: Disposable[];

    constructor(private readonly sidecar: Pick<Sidecar, "request" | "onNotification" | "onDidConnect">) {
        this.subscriptions = [
            sidecar.onDidConnect(() => void this.refresh()),
            sidecar.onNotification("session/changed", ({ sessionId, status, reason }) => {
                const session = this.sessions.get(sessionId);
                if (!session || status === "dead") {
                    // Whether a session is gone for good, or what a new one is, only the list tells.
                    void this.refresh();
                }
                if (session) this.put({ ...session, status, reason });
            }),
        ];
    }

    dispose(): void {
        for (const subscription of this.subscriptions) subscription.dispose();
        this.changed.dispose();
    }

    /** Oldest first. */
    all(): Session[] {
        return [...this.sessions.values()];
    }

    get(id: string): Session | undefined {
        return this.sessions.get(id);
    }

    /** Starts a kernel; when the session is there already, that one. */
    async ensure(params: SessionCreateParams & { sessionId: string }): Promise<Session> {
        const known = this.sessions.get(params.sessionId);
        if (known) return known;
        try {
            return this.put(await this.sidecar.request("session/create", params));
        } catch (error) {
            if (kindOf(error) !== "sessionExists") throw error;
            await this.refresh();
            return this.ensure(params);
        }
    }

    async restart(params: SessionRestartParams): Promise<void> {
        this.put(await this.sidecar.request("session/restart", params));
    }

    async interrupt(sessionId: string): Promise<void> {
        await this.sidecar.request("session/interrupt", { sessionId });
    }

    async close(sessionId: string): Promise<void> {
        await this.sidecar.request("session/close", { sessionId });
        this.sessions.delete(sessionId);
        this.changed.fire();
    }

    async refresh(): Promise<void> {
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
