// These functions describe changes of files to the user. Names of files come from code: what shows them escapes them.

import type { ChangedFile, ChangesListResult, PathProblem } from "../protocol/messages";
import type { Changes } from "./changes";
import type { AgentEdit } from "./editBursts";

export const filesText = (count: number) => (count === 1 ? "1 file" : `${count} files`);

/** How many files an execution changed; undefined where it changed none. */
export function changedText(changes: Pick<Changes, "get" | "isUndone">, executionId: string): string | undefined {
    const found = changes.get(executionId);
    return found && `${filesText(found.files)} changed${changes.isUndone(executionId) ? ", undone" : ""}`;
}

/** That an agent's executions changed files that are open. */
export function agentEditText(agent: string, edits: readonly Pick<AgentEdit, "paths" | "unsaved">[]): string {
    const listed = (paths: readonly string[]) => firstOf([...new Set(paths)], new Set(paths).size, 3).join(", ");
    const unsaved = edits.flatMap((edit) => edit.unsaved);
    const yours = unsaved.length === 0 ? "" : ` Your unsaved changes are still in the editor: ${listed(unsaved)}.`;
    const times = edits.length === 1 ? "" : `, in ${edits.length} edits`;
    return `${agent.slice(0, 60)} changed what is open here: ${listed(edits.flatMap(({ paths }) => paths))}${times}.${yours}`;
}

export const letters = { created: "A", modified: "M", deleted: "D" } as const;

const sizeText = (bytes: number) => (bytes < 1000 ? `${bytes} B` : bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`);

/** What a file is now, and was before where that differs. */
export function fileText({ before, after }: ChangedFile): string {
    const parts = [];
    if (before && before.sha256 === after?.sha256) parts.push("same content");
    else parts.push([before, after].flatMap((version) => (version ? [sizeText(version.bytes)] : [])).join(" → "));
    if (before?.link || after?.link) parts.push("symbolic link");
    if (before && after && before.mode !== after.mode) parts.push(`mode ${before.mode} → ${after.mode}`);
    return parts.join(", ");
}

/** What a user has to know of a list of changes, beside its files. */
export function notesOf({ files, count, complete, notCovered = [], overlapping = [], undoneBy }: ChangesListResult): string[] {
    const notes = [];
    if (undoneBy !== undefined) notes.push("Changes of it were undone.");
    if (overlapping.length > 0) {
        const others = overlapping.length === 1 ? "Another cell" : `${overlapping.length} other cells`;
        notes.push(`${others} ran meanwhile: these may be the changes of that, too.`);
    }
    if (count !== undefined) notes.push(`${filesText(count)} changed; the first ${files.length} are listed.`);
    if (!complete && notCovered.length === 0) notes.push("Not all files of the workspace are covered.");
    notes.push(...notCovered.map((problem) => `Not covered: ${placeText(problem)}: ${problem.why}`));
    return notes;
}

export const placeText = ({ path }: Pick<PathProblem, "path">) => (path === "" ? "the workspace" : path);

/** The first of some lines, and how many more there are. */
export function firstOf(lines: readonly string[], count = lines.length, most = 10): string[] {
    const left = count - Math.min(lines.length, most);
    return [...lines.slice(0, most), ...(left > 0 ? [`and ${left} more`] : [])];
}

const undoings = { created: "delete", modified: "restore", deleted: "bring back" } as const;

export interface Question {
    readonly question: string;
    readonly detail: string;
    /** The button that confirms it. */
    readonly action: string;
}

/** What an undo of these files will do; `paths`: only these are undone. */
export function undoQuestion(list: ChangesListResult, paths?: readonly string[]): Question {
    const files = list.files.filter(({ path }) => paths?.includes(path) ?? true);
    const count = paths ? files.length : (list.count ?? files.length);
    const lines = files.map(({ kind, path }) => `${undoings[kind]} ${path}`);
    const notes = notesOf({ ...list, count: undefined, undoneBy: undefined });
    return {
        question: `Undo changes to ${filesText(count)}?`,
        detail: [...firstOf(lines, count), "", ...firstOf(notes, notes.length, 3), "If one of them was changed since, nothing is done."].join("\n"),
        action: "Undo Changes",
    };
}
