// These functions show all notifications and dialogs of the extension. The editor turns `[text](link)` in a message
// into a link, which may run a command, and `$(icon)` in a progress title into an icon; messages may contain text of
// code, tools or agents, so it is escaped here. `npm run lint` finds code that bypasses this file.

import * as vscode from "vscode";
import { kindOf, textOf } from "./client/errors";
import { plain } from "./text";

export const inform = (message: string, ...actions: string[]) => vscode.window.showInformationMessage(singleLine(message), ...actions.map(plain));

export const warn = (message: string, ...actions: string[]) => vscode.window.showWarningMessage(singleLine(message), ...actions.map(plain));

export const fail = (message: string, ...actions: string[]) => vscode.window.showErrorMessage(singleLine(message), ...actions.map(plain));

/** In a dialog, which nothing goes past. */
export function ask(message: string, detail: string | undefined, ...actions: string[]): Thenable<string | undefined> {
    const options = { modal: true, detail: detail === undefined ? undefined : plain(detail) };
    return vscode.window.showWarningMessage(singleLine(message), options, ...actions);
}

/** For what a user asked for and did not get. */
export function showError(error: unknown): void {
    if (kindOf(error) === undefined && !(error instanceof Error)) throw error;
    void fail(`cellgate: ${textOf(error)}`);
}

/** Says in the status bar what goes on until `work` is done. */
export function showProgress<T>(title: string, work: () => Thenable<T>): Thenable<T> {
    return vscode.window.withProgress({ location: vscode.ProgressLocation.Window, title: singleLine(title) }, work);
}

/** Says so in a notification by which it can be cancelled, and what `work` reports of it. */
export function showCancellableProgress<T>(
    title: string,
    work: (report: (message: string) => void, token: vscode.CancellationToken) => Thenable<T>,
): Thenable<T> {
    const options = { location: vscode.ProgressLocation.Notification, title: singleLine(title), cancellable: true };
    return vscode.window.withProgress(options, (progress, token) => work((message) => progress.report({ message: singleLine(message) }), token));
}

/** In one line; the editor itself shows no more than a thousand characters. */
function singleLine(message: string): string {
    return plain(message.slice(0, 2000).replace(/\s*\n\s*/g, " "));
}
