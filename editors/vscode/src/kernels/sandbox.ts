// What a new session's sandbox is to be: the sidecar's own, or by the person's settings file.

import * as vscode from "vscode";
import type { SessionCreateParams } from "../protocol/messages";

/** `launcher`: what a person chose where the usual sandbox cannot be had. */
export function sandboxChoice(launcher?: "landlock"): SessionCreateParams["sandbox"] {
    const configFile = vscode.workspace.getConfiguration("cellgate").get<string>("sandboxConfig", "") || undefined;
    return launcher || configFile ? { launcher, configFile } : undefined;
}
