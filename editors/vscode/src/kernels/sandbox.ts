// `sandboxChoice` is the sandbox of a new session: the sidecar's default, or one by the user's settings.

import * as vscode from "vscode";
import type { SessionCreateParams } from "../protocol/messages";

/** Images have Python alone. `launcher`: what the user chose where the usual sandbox is not available. */
export function sandboxChoice(language: string, launcher?: "landlock"): SessionCreateParams["sandbox"] {
    const settings = vscode.workspace.getConfiguration("cellgate");
    const configFile = settings.get<string>("sandboxConfig", "") || undefined;
    const usual = settings.get<"bwrap" | "gvisor">("sandboxLauncher", "bwrap");
    const chosen = launcher ?? (usual === "bwrap" ? undefined : usual);
    const image = language === "python" && launcher === undefined ? settings.get<string>("sandboxImage", "") || undefined : undefined;
    return chosen || configFile || image ? { launcher: chosen, image, configFile } : undefined;
}
