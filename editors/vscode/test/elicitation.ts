// These functions make elicitations as cellgate sends them.

import type { Elicitation, ElicitationField } from "../src/protocol/messages";

export const fieldOf = (type: ElicitationField["type"], more: Partial<ElicitationField> = {}): ElicitationField => ({
    name: type,
    title: type,
    type,
    required: false,
    ...(type === "choice" || type === "choices" ? { options: ["garden", "hall", "roof"].map((value) => ({ value, title: `the ${value}` })) } : {}),
    ...more,
});

/** A form of the tool server booking, about a call by the cell `run`. */
export const questionOf = (id: string, more: Partial<Elicitation> = {}): Elicitation => ({
    elicitationId: id,
    server: "booking",
    tool: "book_table",
    sessionId: "plan",
    executionId: "run",
    origin: { uri: "file:///plan/plan.py", line: 4, text: "book(4)", reportedBy: "code" },
    message: "When?",
    mode: "form",
    fields: [fieldOf("text", { name: "day", format: "date", required: true })],
    createdAt: "2026-01-05T09:30:03.000Z",
    ...more,
});

export const pageQuestionOf = (url: string, host: string): Partial<Elicitation> => ({ mode: "url", fields: undefined, url, host });
