// `stateOf` describes an execution in a lens.

import { messageOf } from "../client/errors";
import type { Execution } from "../executions";
import { brief, firstLine, label } from "../text";

const maxProgress = 44;

export function duration(seconds: number): string {
    if (seconds < 0.95) return `${Math.round(seconds * 1000)} ms`;
    if (seconds < 59.95) return `${seconds.toFixed(1)} s`;
    const whole = Math.round(seconds);
    const rest = `${String(Math.floor((whole % 3600) / 60)).padStart(whole < 3600 ? 1 : 2, "0")} min ${whole % 60} s`;
    return whole < 3600 ? rest : `${Math.floor(whole / 3600)} h ${rest}`;
}

type Progress = NonNullable<Execution["progress"]>;

/** For a tooltip. */
export const wholeProgress = ({ call, message }: Progress) => label(`${call}: ${message}`, 1000);

/** The message alone where there is little room for both. */
export function progressText({ call, message }: Progress): string {
    const whole = `${call}: ${message}`;
    return whole.length <= maxProgress ? label(whole) : brief(message, maxProgress);
}

/** In one line, with an icon; `now` in milliseconds. */
export function stateOf(execution: Execution, now: number, progressOf = progressText): string {
    const { state, position, waitsBehind, startedAt, result, problem } = execution;
    if (state === "queued" && waitsBehind) return `$(watch) queued, ${waitsBehind} of other agents before it`;
    if (state === "queued") return position ? `$(watch) queued, ${position} before it` : "$(watch) queued";
    if (state === "running") {
        const time = startedAt === undefined ? "running" : `${Math.floor((now - startedAt) / 1000)} s`;
        if (execution.waitsForInput) return `$(edit) waits for input, ${time}`;
        return `$(sync~spin) ${time}${execution.progress === undefined ? "" : `, ${progressOf(execution.progress)}`}`;
    }
    if (!result) return `$(error) did not run: ${label(firstLine(messageOf(problem)), 120)}`;
    const count = result.executionCount === null ? "" : `[${result.executionCount}] `;
    const time = duration(result.durationSeconds);
    const because = result.reason ? `: ${label(firstLine(result.reason), 120)}` : "";
    switch (result.status) {
        case "ok":
            return `$(check) ${count}${time}`;
        case "error":
            return `$(error) ${count}${label(result.error?.ename ?? "error", 60)}, ${time}`;
        case "cancelled":
            return result.durationSeconds === 0 ? `$(circle-slash) cancelled${because}` : `$(circle-slash) ${count}interrupted, ${time}`;
        case "timeout":
            return `$(clock) ${count}timeout, ${time}`;
        case "killed":
            return `$(error) ${count}kernel ended${because}`;
        case "oom":
            return `$(error) ${count}out of memory${because}`;
    }
}
