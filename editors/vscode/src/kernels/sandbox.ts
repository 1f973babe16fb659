// `sandboxChoice` is the sandbox of a new session: the sidecar's default, or one by the user's settings.

import * as vscode from "vscode";
import type { SessionCreateParams } from "../protocol/messages";

/** `launcher`: what the user chose where the usual sandbox is not available. */
export function sandboxChoice(launcher?: "landlock"): SessionCreateParams["sandbox"] {
    const settings = vscode.workspace.getConfiguration("cellgate");
    const configFile = settings.get<string>("sandboxConfig", "") || undefined;
    const usual = settings.get<"bwrap" | "gvisor">("sandboxLauncher", "bwrap");
    const chosen = launcher ?? (usual === "bwrap" ? undefined : usual);
    return chosen || configFile ? { launcher: chosen, configFile } : undefined;
}
