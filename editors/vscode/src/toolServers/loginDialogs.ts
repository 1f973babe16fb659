// `loginDialogs` are the dialogs of a login. The host of the page is shown by itself: it says whose page it is.

import * as vscode from "vscode";
import { openInBrowser } from "../browser";
import { ask, fail, inform, showCancellableProgress } from "../notices";
import { label } from "../text";
import type { LoginDialogs } from "./logins";

export const loginDialogs: LoginDialogs = {
    async choose(server, { host, authorizationUrl }) {
        const open = "Open";
        const copy = "Copy URL";
        const chosen = await ask(`Open ${label(host)} in the browser to log in to ${label(server)}?`, authorizationUrl, open, copy);
        return chosen === open ? "open" : chosen === copy ? "copy" : undefined;
    },
    open: openInBrowser,
    async copy(text) {
        await vscode.env.clipboard.writeText(text);
    },
    async wait(host, ended, giveUp) {
        await showCancellableProgress(`Waiting for the login at ${label(host)}…`, async (_, token) => {
            token.onCancellationRequested(giveUp);
            await ended;
        });
    },
    granted(server) {
        void inform(`You are logged in to ${label(server)}.`);
    },
    async failed(server, reason) {
        const again = "Log In Again";
        return (await fail(`cellgate: the login to ${label(server)} failed: ${reason}`, again)) === again;
    },
};

/** Whether the user wants to log in, since something failed without it. */
export async function offerLogin(error: unknown): Promise<boolean> {
    const logIn = "Log In";
    return (await fail(`cellgate: ${error instanceof Error ? error.message : String(error)}`, logIn)) === logIn;
}
