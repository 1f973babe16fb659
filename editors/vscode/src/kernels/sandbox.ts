// `sandboxChoice` is the sandbox of a new session: the sidecar's default, or one by the settings file of the user's settings.

import * as vscode from "vscode";
import type { SessionCreateParams } from "../protocol/messages";

/** `launcher`: what the user chose where the usual sandbox is not available. */
export function sandboxChoice(launcher?: "landlock"): SessionCreateParams["sandbox"] {
    const configFile = vscode.workspace.getConfiguration("cellgate").get<string>("sandboxConfig", "") || undefined;
    return launcher || configFile ? { launcher, configFile } : undefined;
}
