// `functionsThatRan` is the code in the workspace's record of which a function can be saved as a tool, be it that it ran
// long ago and under another sidecar.

import type { Sidecar } from "../client/sidecar";
import type { CellPosition, RecordEntry } from "../protocol/messages";
import { functionsOf } from "./functions";

export interface RanCode {
    readonly executionId: string;
    readonly time: string;
    readonly code: string;
    readonly cell?: CellPosition;
    readonly functions: readonly string[];
}

const maxStarts = 200;
/** That the sidecar gives at a time. */
const maxEntries = 1000;

/** What has run without an error and defines functions, the newest first; the same code once. */
export async function functionsThatRan(sidecar: Pick<Sidecar, "request">): Promise<RanCode[]> {
    const starts = (await sidecar.request("record/query", { types: ["execution.started"], text: "def ", limit: maxStarts })).entries;
    const oldest = starts.at(-1);
    if (!oldest) return [];
    const ends = await sidecar.request("record/query", { types: ["execution.ended"], since: oldest.time, limit: maxEntries });
    const succeeded = new Set(ends.entries.filter(({ data }) => data.status === "ok").map(({ executionId }) => executionId));
    const byCode = new Map<string, RanCode>();
    for (const entry of starts) {
        const ran = succeeded.has(entry.executionId) ? ranCode(entry) : undefined;
        if (ran && !byCode.has(ran.code)) byCode.set(ran.code, ran);
    }
    return [...byCode.values()];
}

function ranCode({ executionId, sessionId = "", time, data }: RecordEntry): RanCode | undefined {
    const { code = "", cell } = data as { code?: string; cell?: CellPosition };
    const functions = functionsOf(code);
    const isRunOfSavedTool = /^(agent-)?saved-/.test(sessionId);
    return executionId === undefined || functions.length === 0 || isRunOfSavedTool ? undefined : { executionId, time, code, cell, functions };
}
