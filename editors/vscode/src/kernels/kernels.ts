// From a document to a session that runs: which interpreter it has, and, where it does not start, what a person can do
// about it. The choice is the person's (`Select Kernel`), else that of the Python extension, else the sidecar's.

import * as vscode from "vscode";
import { brokeOff, kindOf, textOf } from "../client/errors";
import type { Documents } from "../documents";
import type { KernelChoice } from "../protocol/messages";
import type { Session, Sessions } from "../sessions";
import { chooseKernel } from "./choose";
import { pythonExtensionInterpreter } from "./pythonExtension";
import { offerRemedy } from "./remedies";
import { sandboxChoice } from "./sandbox";
import type { Sidecar } from "../client/sidecar";

const memoryKey = "cellgate.kernel";

export class Kernels {
    private readonly starting = new Map<string, Promise<Session>>();

    constructor(
        private readonly sidecar: Sidecar,
        private readonly sessions: Sessions,
        private readonly documents: Documents,
        private readonly memory: vscode.Memento,
    ) {}

    /** The session of a document, started when it is not there yet. Rejects when there is none to be had. */
    sessionFor(uri: vscode.Uri): Promise<Session> {
        const sessionId = this.documents.sessionOf(uri.toString());
        const known = this.sessions.get(sessionId);
        if (known) return Promise.resolve(known);
        let start = this.starting.get(sessionId);
        if (!start) {
            start = this.start(uri, sessionId).finally(() => this.starting.delete(sessionId));
            this.starting.set(sessionId, start);
        }
        return start;
    }

    /** Asks which kernel to use; true when one was chosen. It is for sessions that start from now on. */
    async select(): Promise<boolean> {
        const choice = await chooseKernel(this.sidecar);
        if (!choice) return false;
        await this.memory.update(memoryKey, choice.kernel);
        return true;
    }

    private async start(uri: vscode.Uri, sessionId: string): Promise<Session> {
        let sandbox = sandboxChoice();
        for (;;) {
            const kernel = this.memory.get<KernelChoice>(memoryKey) ?? (await pythonExtensionInterpreter(uri));
            try {
                return await vscode.window.withProgress(
                    { location: vscode.ProgressLocation.Window, title: "cellgate: starting the kernel" },
                    () => this.sessions.ensure({ sessionId, kernel, sandbox }),
                );
            } catch (error) {
                // A connection that broke meanwhile is no answer; the next one is asked again.
                if (brokeOff(error)) continue;
                const remedy = await offerRemedy(error);
                if (remedy === "selectKernel" && (await this.select())) continue;
                if (remedy === "retry") continue;
                if (remedy === "weaker" || remedy === "unsandboxed") {
                    sandbox = remedy === "weaker" ? sandboxChoice("landlock") : false;
                    continue;
                }
                throw error;
            }
        }
    }
}

/** For what a person asked for and did not get. */
export function tell(error: unknown): void {
    if (kindOf(error) === undefined && !(error instanceof Error)) throw error;
    void vscode.window.showErrorMessage(`cellgate: ${textOf(error).replace(/\n/g, " ")}`);
}
