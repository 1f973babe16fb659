// `Undo` makes the files that an execution changed as before, once the user has seen which and confirmed it. An undo can
// be undone in the same way.

import type { Sidecar } from "../client/sidecar";
import type { PathProblem } from "../protocol/messages";
import { filesText, undoQuestion, type Question } from "./labels";

export interface UndoDialogs {
    confirm(question: Question): Promise<boolean>;
    /** Whether the user wants what was done undone. */
    report(message: string): Promise<boolean>;
    /** Nothing was changed. */
    showRefused(executionId: string, refused: PathProblem[]): Promise<void>;
}

export class Undo {
    constructor(
        private readonly sidecar: Pick<Sidecar, "request">,
        private readonly dialogs: UndoDialogs,
    ) {}

    /** Of these files; default: of all. */
    async run(executionId: string, paths?: string[]): Promise<void> {
        const list = await this.sidecar.request("changes/list", { executionId });
        if (list.files.length === 0) throw new Error("no files are known that it changed");
        if (!(await this.dialogs.confirm(undoQuestion(list, paths)))) return;
        const { undoId, restored, refused } = await this.sidecar.request("changes/undo", { executionId, paths });
        if (refused.length > 0) return this.dialogs.showRefused(executionId, refused);
        const again = await this.dialogs.report(`Changes to ${filesText(restored.length)} undone.`);
        if (again && undoId !== undefined) await this.run(undoId);
    }
}
