// These functions make approvals as cellgate sends them.

import type { Approval, RuleSpec } from "../src/protocol/messages";
import { itemOf } from "../src/approvals/items";
import type { ApprovalItem } from "../src/approvals/messages";

export const anyRead: RuleSpec = { effect: "allow", kind: "tool", server: "filesystem", tool: "read_text_file" };
export const readUnder = (folder: string): RuleSpec => ({ ...anyRead, arguments: { "/path": { under: folder } } });

/** A call of read_text_file by the cell `run`. */
export function approvalOf(id: string, path: string, more: Partial<Approval> = {}): Approval {
    const folder = path.startsWith("/") ? undefined : path.split("/")[0];
    return {
        approvalId: id,
        action: { kind: "tool", server: "filesystem", tool: "read_text_file", argumentsText: JSON.stringify({ path }) },
        sessionId: "plan",
        executionId: "run",
        origin: { uri: "file:///plan/plan.py", line: 4, text: "read(path)", reportedBy: "code" },
        hints: {},
        display: ["tool read_text_file of filesystem", `path: ${JSON.stringify(path)}`],
        editText: JSON.stringify({ path }, null, 2),
        choices: [
            { label: "this call", scope: "once" },
            ...(folder === undefined ? [] : [{ label: `read_text_file under ${folder}/`, scope: "session" as const, rule: readUnder(folder) }]),
            { label: "any read_text_file, this session", scope: "session", rule: anyRead },
        ],
        createdAt: "2026-01-05T09:30:02.500Z",
        ...more,
    };
}

export const itemFor = (id: string, path: string, more: Partial<Approval> = {}): ApprovalItem =>
    itemOf(approvalOf(id, path, more), undefined, "the cell at plan.py:5", { place: "plan.py:5", changed: false });
