// `Logins` logs the user in at tool servers: the sidecar begins a login, the user's browser opens its page, and the sidecar
// notifies how it ended. Nothing of a login (codes, tokens) comes here.

import type { Disposable } from "vscode-jsonrpc/node";
import type { Sidecar } from "../client/sidecar";
import type { ToolServersLoginEndedParams, ToolServersLoginResult } from "../protocol/messages";

/** What the user wants to do with the page of a login; undefined: give the login up. */
export type PageChoice = "open" | "copy" | undefined;

export interface LoginDialogs {
    choose(server: string, login: ToolServersLoginResult): Promise<PageChoice>;
    /** Whether the user let it be opened. */
    open(url: string): Promise<boolean>;
    copy(text: string): Promise<void>;
    /** Says that a login waits until `ended` settles; a user may give it up. */
    wait(host: string, ended: Promise<unknown>, giveUp: () => void): Promise<void>;
    granted(server: string): void;
    /** Whether the user wants to try once more. */
    failed(server: string, reason: string): Promise<boolean>;
}

type End = Pick<ToolServersLoginEndedParams, "status" | "message">;

interface WaitingLogin {
    readonly ended: Promise<End>;
    /** The user gave it up here. */
    givenUp: boolean;
    /** Resolves when it has ended. */
    giveUp(): Promise<unknown>;
}

export class Logins {
    /** Those that this window began, by server. */
    private readonly waiting = new Map<string, WaitingLogin>();

    constructor(
        private readonly sidecar: Pick<Sidecar, "request" | "onNotification" | "onDidChangeState">,
        private readonly dialogs: LoginDialogs,
    ) {}

    /** Whether there is a login now. */
    async logIn(server: string): Promise<boolean> {
        for (;;) {
            const { end, givenUp } = await this.attempt(server);
            if (end.status === "granted") {
                this.dialogs.granted(server);
                return true;
            }
            if (givenUp) return false;
            const reason = end.message ?? "it was given up, or not finished in time";
            if (!(await this.dialogs.failed(server, reason))) return false;
        }
    }

    async logOut(server: string): Promise<void> {
        await this.sidecar.request("toolServers/logout", { server });
    }

    private async attempt(server: string): Promise<{ end: End; givenUp: boolean }> {
        // The end of an earlier one would be taken for the end of this one.
        await this.waiting.get(server)?.giveUp();
        const begun = await this.sidecar.request("toolServers/login", { server });
        const login = this.follow(server);
        this.waiting.set(server, login);
        try {
            if (await this.usePage(server, begun)) await this.dialogs.wait(begun.host, login.ended, () => void login.giveUp());
            else await login.giveUp();
            return { end: await login.ended, givenUp: login.givenUp };
        } finally {
            if (this.waiting.get(server) === login) this.waiting.delete(server);
        }
    }

    /** Whether the user has the page now. */
    private async usePage(server: string, begun: ToolServersLoginResult): Promise<boolean> {
        const choice = await this.dialogs.choose(server, begun);
        if (choice === "copy") await this.dialogs.copy(begun.authorizationUrl);
        return choice === "open" ? this.dialogs.open(begun.authorizationUrl) : choice === "copy";
    }

    private follow(server: string): WaitingLogin {
        let settle: (end: End) => void = () => undefined;
        const ended = new Promise<End>((resolve) => (settle = resolve));
        const subscriptions: Disposable[] = [
            this.sidecar.onNotification("toolServers/loginEnded", (params) => {
                if (params.server === server) settle(params);
            }),
            this.sidecar.onDidChangeState(({ kind }) => {
                if (kind !== "connected") settle({ status: "failed", message: "the connection to cellgate was lost" });
            }),
        ];
        void ended.then(() => {
            for (const subscription of subscriptions) subscription.dispose();
        });
        const login: WaitingLogin = {
            ended,
            givenUp: false,
            giveUp: async () => {
                login.givenUp = true;
                try {
                    await this.sidecar.request("toolServers/cancelLogin", { server });
                } catch (error) {
                    settle({ status: "failed", message: error instanceof Error ? error.message : String(error) });
                }
                return ended;
            },
        };
        return login;
    }
}
