// `generateWrappers` has the sidecar write the wrappers of a tool server, with progress that the
// user can cancel, and reports what was written.

import { randomUUID } from "node:crypto";
import * as vscode from "vscode";
import type { Cellgate } from "../cellgate";
import { languageImporting, serverImported } from "../check/wrappers";
import { inform, showCancellableProgress, warn } from "../notices";
import type { ToolServerInfo, WrapperLanguage, WrappersGenerateResult } from "../protocol/messages";
import { label } from "../text";

/** What `cellgate.generateWrappers` takes. */
export interface WantedWrappers {
    /** Default: one that the user picks. */
    readonly server?: Pick<ToolServerInfo, "name"> | undefined;
    /** Default: that of the active editor. */
    readonly language?: WrapperLanguage;
}

/** Those of the server that `code` imports from, or else of one that the user picks. */
export async function generateImported({ sidecar }: Pick<Cellgate, "sidecar">, code: string): Promise<void> {
    const { servers } = await sidecar.request("toolServers/list", {});
    const name = serverImported(code, servers.map((server) => server.name));
    const wanted: WantedWrappers = { server: name === undefined ? undefined : { name }, language: languageImporting(code) };
    await vscode.commands.executeCommand("cellgate.generateWrappers", wanted);
}

export async function generateWrappers({ sidecar, log }: Cellgate, server: string, language = editorLanguage()): Promise<void> {
    const result = await showCancellableProgress(`Writing the wrappers of ${label(server)}`, async (report, token) => {
        const workDoneToken = randomUUID();
        const listening = sidecar.onNotification("$/progress", (progress) => {
            if (progress.token === workDoneToken && progress.value.message !== undefined) report(label(progress.value.message));
        });
        try {
            return await sidecar.request("wrappers/generate", { server, language, workDoneToken }, token);
        } finally {
            listening.dispose();
        }
    });
    reportResult(result, log);
}

function editorLanguage(): WrapperLanguage {
    const language = vscode.window.activeTextEditor?.document.languageId ?? "";
    return ["typescript", "javascript"].includes(language) ? "typescript" : "python";
}

function reportResult({ package: name, modules, skipped }: WrappersGenerateResult, log: Cellgate["log"]): void {
    const count = modules.length === 1 ? "1 module" : `${modules.length} modules`;
    if (skipped.length === 0) {
        void inform(`${name} has ${count}. Cells import from it.`);
        return;
    }
    for (const { tool, reason } of skipped) log.warn(`${name}: ${label(tool)} is left out: ${label(reason, 1000)}`);
    const left = skipped.map(({ tool }) => label(tool, 60)).join(", ");
    void warn(`${name} has ${count}; left out: ${left}. The log says why.`, "Show Log").then((answer) => {
        if (answer) log.show();
    });
}
