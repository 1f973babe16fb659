// `NoteRemedies` applies the remedy of a note, once the user has seen what it changes and confirmed it. The request names
// an execution and a note; the rule, the paths or the packages come from the sidecar's result, never from the request.
// An install is asked about by the sidecar; wrappers are written unasked.

import type { Sidecar } from "../client/sidecar";
import type { Executions } from "../executions";
import type { Sessions } from "../sessions";
import type { PackageInstalls } from "../packages/install";
import { describeRemedy, type Remedy } from "./model/remedy";

export interface RemedyDialogs {
    confirm(remedy: Remedy): Promise<boolean>;
    report(message: string): void;
}

interface Models {
    readonly executions: Pick<Executions, "get">;
    readonly sessions: Pick<Sessions, "restart">;
    readonly sidecar: Pick<Sidecar, "request">;
}

export class NoteRemedies {
    constructor(
        private readonly models: Models,
        private readonly dialogs: RemedyDialogs,
        private readonly installs: Pick<PackageInstalls, "install">,
        private readonly generateWrappers: (code: string) => Promise<unknown>,
    ) {}

    /** Whether it was applied. `index`: of the note in the execution's result. */
    async apply(executionId: string, index: number): Promise<boolean> {
        const { executions, sessions, sidecar } = this.models;
        const execution = executions.get(executionId);
        const note = execution?.result?.notes?.[index];
        if (!execution || !note) throw new Error("this result is not known any more: run the cell again");
        const { sessionId } = execution;
        if (note.install) return await this.installs.install(note.install, sessionId);
        if (note.wrappers !== undefined) return (await this.generateWrappers(note.wrappers), true);
        const remedy = describeRemedy(note, sessionId);
        if (!remedy) throw new Error(`no action is known for this: ${note.remedy}`);
        if (!(await this.dialogs.confirm(remedy))) return false;
        if (note.rule) await sidecar.request("policy/add", { rule: note.rule, scope: "session", sessionId });
        else await sessions.restart({ sessionId, sandbox: note.sandbox });
        this.dialogs.report(`done for session ${sessionId}: ${note.remedy}`);
        return true;
    }
}
