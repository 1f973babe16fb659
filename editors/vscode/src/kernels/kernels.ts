// `Kernels` starts the session of a document or a notebook: it decides which kernel the session has, and offers
// remedies when it does not start. For a document that is the user's choice (`Select Kernel`), else the Python
// extension's, else the sidecar's default; a notebook has its own.

import * as vscode from "vscode";
import { isConnectionLost } from "../client/errors";
import type { Documents } from "../documents";
import { inform, showError } from "../notices";
import type { KernelChoice } from "../protocol/messages";
import type { Session, Sessions } from "../sessions";
import type { SessionSettings } from "../sessionSettings/sessionSettings";
import { label } from "../text";
import { documentUri } from "../uris";
import { chooseElsewhere, chooseKernel } from "./choose";
import { KernelsElsewhere, type KernelElsewhere } from "./elsewhere";
import { Origins, type Origin } from "./origins";
import { CancelledByUser, withProgress } from "./progress";
import { PythonExtension } from "./pythonExtension";
import { offerRemedy } from "./remedies";
import { sandboxChoice } from "./sandbox";
import { sessionParams } from "./sessionParams";
import type { Sidecar } from "../client/sidecar";

const memoryKey = "cellgate.kernel";

/** The session in which code runs, and its language. */
export interface Place {
    readonly sessionId: string;
    readonly language: string;
}

interface Start {
    /** What the notebook has chosen; undefined of a document. */
    readonly kernel: KernelChoice | undefined;
    readonly session: Promise<Session>;
}

export class Kernels implements vscode.Disposable {
    private readonly starting = new Map<string, Start>();
    private readonly python = new PythonExtension();
    private readonly origins: Origins;
    readonly elsewhere: KernelsElsewhere;
    /** Session → the interpreter that a restart was offered with. */
    private readonly offered = new Map<string, string>();
    private readonly subscriptions: vscode.Disposable;

    constructor(
        private readonly sidecar: Sidecar,
        private readonly sessions: Sessions,
        private readonly documents: Documents,
        private readonly memory: vscode.Memento,
        private readonly settings: SessionSettings,
    ) {
        this.origins = new Origins(memory);
        this.elsewhere = new KernelsElsewhere(memory);
        this.subscriptions = vscode.Disposable.from(
            this.python,
            this.elsewhere,
            this.python.onDidChange(() => void this.offerChosen()),
            // Of sessions that outlived the last window: what was chosen meanwhile.
            sessions.onDidChange(() => {
                if (this.offered.size === 0) void this.offerChosen();
            }),
        );
    }

    dispose(): void {
        this.subscriptions.dispose();
    }

    /**
     * The session of a document or notebook, started when it does not exist yet. Rejects when it cannot start.
     * With `kernel`: in that one; a session that was started with another one ends for it. `place`: for code of another
     * language than Python.
     */
    sessionFor(uri: vscode.Uri, kernel?: KernelChoice, place?: Place): Promise<Session> {
        const { sessionId, language } = place ?? { sessionId: this.documents.sessionOf(uri.toString()), language: "python" };
        const begun = this.starting.get(sessionId);
        if (begun && (!kernel || JSON.stringify(begun.kernel) === JSON.stringify(kernel))) return begun.session;
        const session = (begun?.session ?? Promise.resolve())
            .catch(() => undefined)
            .then(() => this.have(uri, { sessionId, language }, kernel))
            .finally(() => {
                if (this.starting.get(sessionId)?.session === session) this.starting.delete(sessionId);
            });
        this.starting.set(sessionId, { kernel, session });
        return session;
    }

    /** Asks which kernel to use; the name of what was chosen. It is for sessions that start from now on. */
    async select(): Promise<string | undefined> {
        const choice = await chooseKernel(this.sidecar, this.elsewhere, "python");
        if (!choice) return undefined;
        await this.memory.update(memoryKey, choice.kernel);
        return choice.name;
    }

    /** Asks which kernel a notebook is to have; undefined also where the editor's own list is shown in place of an answer. */
    selectForNotebook(): Promise<KernelElsewhere | undefined> {
        return chooseElsewhere(this.sidecar, this.elsewhere, () => void vscode.commands.executeCommand("notebook.selectKernel"));
    }

    private async have(uri: vscode.Uri, { sessionId, language }: Place, kernel: KernelChoice | undefined): Promise<Session> {
        const known = this.sessions.get(sessionId);
        if (known && !(kernel && this.origins.isOther(known, kernel))) return known;
        if (known) await this.sessions.close(sessionId);
        return this.start(uri, { sessionId, language }, kernel);
    }

    private async start(uri: vscode.Uri, { sessionId, language }: Place, given: KernelChoice | undefined): Promise<Session> {
        let sandbox = sandboxChoice(language);
        let kernel = given;
        const settings = this.settings.createParams(sessionId);
        const isPython = language === "python";
        for (;;) {
            try {
                return await withProgress("starting the kernel", async (token) => {
                    // What was chosen for Python is for Python alone.
                    const origin = isPython ? await this.originFor(uri, kernel) : { uri: uri.toString(), ...(kernel ? { kernel } : {}) };
                    if (token.isCancellationRequested) throw new CancelledByUser();
                    // What has begun ends with its session.
                    const giveUp = token.onCancellationRequested(() => void this.sessions.close(sessionId).catch(() => undefined));
                    try {
                        const { session, isNew } = await this.sessions.ensure(
                            sessionParams({ sessionId, kernel: origin.kernel, sandbox, ...settings, ...(isPython ? {} : { language }) }),
                        );
                        if (isNew) await this.origins.remember(session, origin);
                        return session;
                    } finally {
                        giveUp.dispose();
                    }
                });
            } catch (error) {
                if (error instanceof CancelledByUser) throw new Error("the start of its kernel was cancelled", { cause: error });
                // A connection that broke meanwhile is no answer; the next one is asked again.
                if (isConnectionLost(error)) continue;
                const remedy = await offerRemedy(error);
                if (remedy === "selectKernel" && !isPython) {
                    kernel = (await chooseKernel(this.sidecar, this.elsewhere, language))?.kernel;
                    if (kernel) continue;
                }
                if (remedy === "selectKernel" && given) await vscode.commands.executeCommand("notebook.selectKernel");
                else if (remedy === "selectKernel" && isPython && (await this.select())) continue;
                if (remedy === "retry") continue;
                if (remedy === "weaker" || remedy === "unsandboxed") {
                    sandbox = remedy === "weaker" ? sandboxChoice(language, "landlock") : false;
                    continue;
                }
                throw error;
            }
        }
    }

    private async originFor(uri: vscode.Uri, kernel: KernelChoice | undefined): Promise<Origin> {
        const chosen = kernel ?? this.memory.get<KernelChoice>(memoryKey);
        if (chosen) return { uri: uri.toString(), kernel: chosen };
        const interpreter = await this.python.interpreterFor(uri);
        return { uri: uri.toString(), ...(interpreter === undefined ? {} : { kernel: { interpreter }, ofPythonExtension: true }) };
    }

    /** Sessions that have their interpreter from the Python extension go on in it when another one is chosen there. */
    private async offerChosen(): Promise<void> {
        if (this.memory.get<KernelChoice>(memoryKey)) return;
        for (const session of this.sessions.all()) {
            const origin = this.origins.of(session);
            if (!origin?.ofPythonExtension) continue;
            const uri = documentUri(origin.uri);
            const present = origin.kernel?.interpreter ?? "";
            const before = this.offered.get(session.sessionId) ?? present;
            this.offered.set(session.sessionId, before);
            const chosen = await this.python.interpreterFor(uri);
            if (chosen === undefined || chosen === before) continue;
            this.offered.set(session.sessionId, chosen);
            if (chosen !== present) void this.offerRestart(session, uri, chosen);
        }
    }

    private async offerRestart({ sessionId, createdAt }: Session, uri: vscode.Uri, interpreter: string): Promise<void> {
        const restart = "Restart with It";
        const answer = await inform(
            `The Python extension has another interpreter now, ${label(interpreter)}. ${label(sessionId)} goes on in the one before; ` +
                "a restart ends that kernel, and its variables are gone.",
            restart,
        );
        if (answer !== restart || this.sessions.get(sessionId)?.createdAt !== createdAt) return;
        try {
            await this.sessions.close(sessionId);
            await this.sessionFor(uri);
        } catch (error) {
            showError(error);
        }
    }
}
