// `packages` registers the command that installs packages for the workspace's kernels.

import * as vscode from "vscode";
import { active } from "../active";
import type { Cellgate } from "../cellgate";
import { showError } from "../notices";
import { packageInstalls } from "./dialogs";
import { packagesIn } from "./install";

export function packages(cellgate: Cellgate): vscode.Disposable {
    const installs = packageInstalls(cellgate);

    /** `packages`: of a quick fix. */
    async function install(packages?: string[]): Promise<void> {
        const text = packages ? packages.join(" ") : await vscode.window.showInputBox({
            title: "Install Packages",
            placeHolder: "pandas",
            prompt: "Names of Python packages, as pip takes them, or of npm's for TypeScript: npm:lodash npm:@std/yaml@^1",
        });
        const names = packagesIn(text ?? "");
        if (names.length > 0) await installs.install(names, pythonSession(cellgate));
    }

    return vscode.commands.registerCommand("cellgate.installPackages", (packages?: string[]) => install(packages).catch(showError));
}

/** The session of the active editor, if it runs Python; otherwise the sidecar takes the workspace's. */
function pythonSession({ documents, sessions }: Cellgate): string | undefined {
    const working = active({ documents });
    const session = working && sessions.get(working.sessionId);
    return session?.kernel.language === "python" ? session.sessionId : undefined;
}
