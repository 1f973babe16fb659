// What a person is told in passing, or is asked in a dialog. All of the extension's go through here, since the editor makes
// a link of `[text](link)` in a message, one that runs a command too, and an icon of `$(icon)` in the title of what goes on:
// what is said may have words of code, of tools or of agents in it. (`npm run lint` finds who goes around.)

import * as vscode from "vscode";
import { kindOf, textOf } from "./client/errors";
import { plain } from "./text";

export const inform = (message: string, ...actions: string[]) => vscode.window.showInformationMessage(said(message), ...actions.map(plain));

export const warn = (message: string, ...actions: string[]) => vscode.window.showWarningMessage(said(message), ...actions.map(plain));

export const fail = (message: string, ...actions: string[]) => vscode.window.showErrorMessage(said(message), ...actions.map(plain));

/** In a dialog, which nothing goes past. */
export function ask(message: string, detail: string | undefined, ...actions: string[]): Thenable<string | undefined> {
    const options = { modal: true, detail: detail === undefined ? undefined : plain(detail) };
    return vscode.window.showWarningMessage(said(message), options, ...actions);
}

/** For what a person asked for and did not get. */
export function tell(error: unknown): void {
    if (kindOf(error) === undefined && !(error instanceof Error)) throw error;
    void fail(`cellgate: ${textOf(error)}`);
}

/** Says in the status bar what goes on until `work` is done. */
export function during<T>(title: string, work: () => Thenable<T>): Thenable<T> {
    return vscode.window.withProgress({ location: vscode.ProgressLocation.Window, title: said(title) }, work);
}

/** Says so in a notification by which it can be cancelled, and what `work` reports of it. */
export function duringCancellable<T>(
    title: string,
    work: (report: (message: string) => void, token: vscode.CancellationToken) => Thenable<T>,
): Thenable<T> {
    const options = { location: vscode.ProgressLocation.Notification, title: said(title), cancellable: true };
    return vscode.window.withProgress(options, (progress, token) => work((message) => progress.report({ message: said(message) }), token));
}

/** In one line; the editor itself shows no more than a thousand characters. */
function said(message: string): string {
    return plain(message.slice(0, 2000).replace(/\s*\n\s*/g, " "));
}
