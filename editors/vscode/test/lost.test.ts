import assert from "node:assert/strict";
import { test } from "node:test";
import { lostText } from "../src/connectionStatus/lost";

const endedAt = "2026-01-05T09:30:02Z";

test("what a crash took along is said, and nothing else", () => {
    const execution = (state: "queued" | "running") => ({ executionId: state, sessionId: "s", state });
    assert.equal(
        lostText({ endedAt, sessions: ["a", "b"], executions: [execution("running"), execution("queued")] }),
        "cellgate ended unexpectedly and was started again: the variables of 2 sessions are gone (a, b); one cell was " +
            "interrupted, and any part of it may have happened; one cell that waited did not run. Output until then is kept.",
    );
    assert.match(lostText({ endedAt, sessions: [], executions: [] }), /nothing was running, and nothing is lost/);
});
