// `withProgress` shows work that the user waits for: in the status bar at once, and when it takes long in a notification
// that can cancel it.

import * as vscode from "vscode";
import { showProgress, showCancellableProgress } from "../notices";

const longMilliseconds = 3000;

export class CancelledByUser extends Error {}

/** `work` is given up at once by its promise; what it began is to be ended by the token. */
export async function withProgress<T>(title: string, work: (token: vscode.CancellationToken) => Promise<T>): Promise<T> {
    const source = new vscode.CancellationTokenSource();
    const given = new Promise<never>((_, reject) => source.token.onCancellationRequested(() => reject(new CancelledByUser("it was given up"))));
    const done = Promise.race([work(source.token), given]);
    const ended = done.then(
        () => undefined,
        () => undefined,
    );
    void showProgress(`cellgate: ${title}`, () => ended);
    const timer = setTimeout(() => {
        void showCancellableProgress(`cellgate: ${title}`, async (_, token) => {
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
