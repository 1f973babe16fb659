// `lostText` describes what was lost in a crash of the sidecar.

import type { LostWork } from "../protocol/messages";

const counted = (count: number, one: string, many: string) => (count === 1 ? one : `${count} ${many}`);

export function lostText({ sessions, executions }: LostWork): string {
    const running = executions.filter(({ state }) => state === "running").length;
    const queued = executions.length - running;
    const parts = [
        sessions.length > 0 &&
            `the variables of ${counted(sessions.length, "one session are", "sessions are")} gone (${sessions.join(", ")})`,
        running > 0 && `${counted(running, "one cell was", "cells were")} interrupted, and any part of it may have happened`,
        queued > 0 && `${counted(queued, "one cell", "cells")} that waited did not run`,
    ].filter((part) => part !== false);
    const what = parts.length > 0 ? parts.join("; ") : "nothing was running, and nothing is lost";
    return `cellgate ended unexpectedly and was started again: ${what}. Output until then is kept.`;
}
