// Work that a person waits for: the status bar says so from its begin, and where it takes long, a notification that can
// cancel it.

import * as vscode from "vscode";
import { during, duringCancellable } from "../notices";

const longMilliseconds = 3000;

export class GivenUp extends Error {}

/** `work` is given up at once by its promise; what it began is to be ended by the token. */
export async function whileWaiting<T>(title: string, work: (token: vscode.CancellationToken) => Promise<T>): Promise<T> {
    const source = new vscode.CancellationTokenSource();
    const given = new Promise<never>((_, reject) => source.token.onCancellationRequested(() => reject(new GivenUp("it was given up"))));
    const done = Promise.race([work(source.token), given]);
    const ended = done.then(
        () => undefined,
        () => undefined,
    );
    void during(`cellgate: ${title}`, () => ended);
    const timer = setTimeout(() => {
        void duringCancellable(`cellgate: ${title}`, async (_, token) => {
            token.onCancellationRequested(() => source.cancel());
            await ended;
        });
    }, longMilliseconds);
    try {
        return await done;
    } finally {
        clearTimeout(timer);
        source.dispose();
    }
}
