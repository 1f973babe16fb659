// These functions describe the entries of the record to the user.

import { decisionText } from "../approvals/pending";
import { duration } from "../cells/states";
import { filesText } from "../changes/labels";
import type { CellPosition, ChangedFile, ExecuteResult, Limits, Outcome, PastDecision, RecordEntry, Rule } from "../protocol/messages";
import { callText, pastDetails, ruleText } from "../rules/labels";
import { limitTexts } from "../sessionViews/limitNames";
import { plain } from "../text";
import type { Filter } from "./entries";

/** What an execution.started holds; of long code only its size. */
interface Started {
    readonly code?: string;
    readonly bytes?: number;
    readonly cell?: CellPosition;
    /** Whose run it is. */
    readonly savedTool?: string;
}
type Ended = Pick<ExecuteResult, "status" | "reason"> & { readonly durationSeconds?: number; readonly error?: { readonly ename?: string; readonly evalue?: string } };
interface Session {
    readonly kernel?: string | { readonly name?: string };
    readonly sandbox?: string;
}

function usedText(secret: Secret): string {
    return secret.host === undefined ? `${secretText(secret)} given to ${secret.server}` : `${secretText(secret)} put into a request to ${secret.host}`;
}

interface Secret {
    readonly name: string;
    readonly scope: string;
    /** Of a use: by a tool server, or in a request. */
    readonly server?: string;
    readonly host?: string;
}

interface Kind {
    /** By which a user chooses it. */
    readonly title: string;
    readonly icon: string | ((data: never) => string);
    /** `decided`: the decision that allowed what ended. */
    readonly text: (data: never, decided?: PastDecision) => string;
}

const statusIcons: Readonly<Record<string, string>> = { ok: "check", succeeded: "check", cancelled: "circle-slash" };
const statusIcon = ({ status }: { status: string }) => statusIcons[status] ?? "error";
const because = (reason: string | undefined) => (reason === undefined ? "" : `: ${reason}`);

/** By the type of an entry, as the user is offered them. */
export const kinds: Readonly<Record<string, Kind>> = {
    "action.decided": {
        title: "Decisions",
        icon: ({ decision }: PastDecision) => (decision === "allow" ? "check" : "circle-slash"),
        text: (past: PastDecision) => `${verdictText(past)}: ${subjectOf(past)}`,
    },
    "action.ended": {
        title: "Ends of what was allowed",
        icon: statusIcon,
        text: ({ number, status, error }: Outcome & { number: number }, decided) =>
            `${status === "unknown" ? "left to the agent" : status}: ${decided ? subjectOf(decided) : `action ${number}`}${because(error)}`,
    },
    "execution.started": { title: "Code that ran", icon: "play", text: (started: Started) => `ran: ${firstLine(started)}` },
    "execution.ended": {
        title: "Ends of executions",
        icon: statusIcon,
        text: (ended: Ended) => `ended: ${endText(ended)}`,
    },
    "session.created": { title: "New sessions", icon: "add", text: (session: Session) => `session created${sessionText(session)}` },
    "session.closed": { title: "Closed sessions", icon: "close", text: () => "session closed" },
    "limits.changed": { title: "Changed limits", icon: "dashboard", text: ({ limits }: { limits: Limits }) => `limits changed: ${limitTexts(limits).join("; ") || JSON.stringify(limits)}` },
    "kernel.started": { title: "Starts of kernels", icon: "vm-running", text: () => "kernel started" },
    "kernel.ended": { title: "Ends of kernels", icon: "vm-outline", text: ({ reason }: { reason?: string }) => `kernel ended${because(reason)}` },
    "policy.added": { title: "New rules", icon: "law", text: ({ rule }: { rule: Rule }) => `rule added: ${rule.effect} ${ruleText(rule)}` },
    "policy.removed": { title: "Removed rules", icon: "trash", text: ({ ruleId, reason }: { ruleId: string; reason?: string }) => `rule removed: ${ruleId}${reason === undefined ? "" : `: ${reason}`}` },
    "login.ended": {
        title: "Logins",
        icon: "key",
        text: ({ server, error }: { server: string; error?: string }) =>
            error === undefined ? `logged in to ${server}` : `login to ${server} failed: ${error}`,
    },
    "secret.set": { title: "New secrets", icon: "lock", text: (secret: Secret) => `${secretText(secret)} set` },
    "secret.deleted": { title: "Deleted secrets", icon: "trash", text: (secret: Secret) => `${secretText(secret)} deleted` },
    "secret.used": { title: "Uses of secrets", icon: "lock", text: usedText },
    "files.changed": { title: "Changed files", icon: "diff", text: ({ files }: { files: number }) => `changed ${filesText(files)}` },
    "files.restored": { title: "Undone changes", icon: "discard", text: ({ files }: { files: number }) => `restored ${filesText(files)}` },
    "record.gap": {
        title: "Gaps of the record",
        icon: "warning",
        text: ({ dropped, error }: { dropped: number; error: string }) => `${dropped} entries were not kept: ${error}`,
    },
    "record.pruned": {
        title: "Removals of old entries",
        icon: "archive",
        text: ({ firstKept }: { firstKept: number }) => `entries before number ${firstKept} were removed`,
    },
};

function secretText({ name, scope }: Secret): string {
    const owners: Readonly<Record<string, string>> = { workspace: " of this workspace", session: " of the session" };
    return `secret ${name}${owners[scope] ?? ""}`;
}

function verdictText({ decision, by }: PastDecision): string {
    if (by === "noClient") return decisionText({ how: { decision, by }, here: false });
    return decision === "allow" ? "allowed" : "denied";
}

/** The first line about an install names the packages, which are last in its command. */
function subjectOf({ action, display }: PastDecision): string {
    return action && action.kind !== "install" ? callText(action) : (display[0] ?? "an action");
}

function firstLine({ code, bytes, savedTool }: Started): string {
    if (savedTool !== undefined) return `the saved tool ${savedTool}`;
    if (code === undefined) return bytes === undefined ? "code" : `${bytes} bytes of code`;
    return code.split("\n").find((line) => line.trim() !== "") ?? "code";
}

function endText({ status, durationSeconds, error, reason }: Ended): string {
    const time = durationSeconds === undefined ? "" : `, ${duration(durationSeconds)}`;
    const exception = error && `${error.ename ?? "error"}${because(error.evalue)}`;
    // As above the cell: what had begun was interrupted.
    const ended = status === "cancelled" && durationSeconds !== undefined && durationSeconds > 0 ? "interrupted" : status;
    return `${ended}${time}${because(exception ?? reason)}`;
}

function sessionText({ kernel, sandbox }: Session): string {
    const name = typeof kernel === "string" ? kernel : kernel?.name;
    const where = sandbox === "none" ? "without a sandbox" : sandbox && `in ${sandbox}`;
    const parts = [name, where].filter(Boolean);
    return parts.length === 0 ? "" : `: ${parts.join(", ")}`;
}

/** What happened. Of data that is not what its type says (a record can be changed), the data. */
export function entryText({ type, data }: RecordEntry, decided?: RecordEntry): string {
    return described(() => kinds[type]?.text(data as never, decided?.data as never)) ?? `${type}: ${JSON.stringify(data)}`;
}

export function entryIcon({ type, data }: RecordEntry): string {
    const icon = kinds[type]?.icon;
    return (typeof icon === "function" ? described(() => icon(data as never)) : icon) ?? "circle-outline";
}

const actors = new Map([["user", "a user"], ["agent", "an agent"], ["rule", "a rule"]]);

/** Who did it. */
export function actorText({ actor, data }: RecordEntry): string {
    if (actor === "agent" && typeof data.agent === "string") return `agent ${data.agent}`;
    return actors.get(actor) ?? actor;
}

/** All of an entry that a user reads, in lines that are safe to show. */
export function entryDetails(entry: RecordEntry, decided?: RecordEntry): string[] {
    const { seq, sessionId, data } = entry;
    const details = described(() => detailsOf(entry));
    return [
        entryText(entry, decided),
        `${timeText(entry)}, by ${actorText(entry)}${sessionId === undefined ? "" : `, in session ${sessionId}`}; entry ${seq}`,
        "",
        ...(details ?? Object.entries(data).map(([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`)),
    ].map(plain);
}

function detailsOf({ type, data }: RecordEntry): string[] | undefined {
    if (type === "action.decided") return pastDetails(data as never);
    if (type === "execution.started") return (data as Started).code?.split("\n");
    const changes = type === "files.changed" ? (data as { changes?: Pick<ChangedFile, "path" | "kind">[] }).changes : undefined;
    return changes?.map(({ kind, path }) => `${kind} ${path}`);
}

/** How an execution is called: its code, where its beginning was read. An undo has none. */
export function runText(started: RecordEntry | undefined, entries: readonly RecordEntry[] = []): string {
    const undo = started ? undefined : undoOf(entries);
    if (undo) return `undo: ${entryText(undo)}`;
    return (started && described(() => firstLine(started.data as Started))) ?? "a cell";
}

export const undoOf = (entries: readonly RecordEntry[]) => entries.find(({ type }) => type === "files.restored");

/** In the user's time zone, as everywhere. */
export const timeText = ({ time }: Pick<RecordEntry, "time">) => new Date(time).toLocaleString();

/** The time of day; of another day its date too. For a row, which has little room. */
export function shortTimeText({ time }: Pick<RecordEntry, "time">, now = new Date()): string {
    const then = new Date(time);
    if (then.toDateString() === now.toDateString()) return then.toLocaleTimeString();
    return then.toLocaleString(undefined, { dateStyle: "short", timeStyle: "short" });
}

export function runEndText(ended: RecordEntry | undefined): string | undefined {
    return ended && described(() => endText(ended.data as never));
}

/** What is left out of the view; undefined when nothing is. */
export function filterText({ text, types, executionId }: Filter): string | undefined {
    const parts = [
        ...(executionId === undefined ? [] : ["of one execution"]),
        ...(types === undefined ? [] : [`of these kinds: ${types.map((type) => kinds[type]?.title ?? type).join(", ")}`]),
        ...(text === undefined ? [] : [`that contain “${text}”`]),
    ];
    return parts.length === 0 ? undefined : `Only entries ${parts.join(" and ")}. Clear Filter, above, shows all.`;
}

function described<T>(describe: () => T): T | undefined {
    try {
        return describe();
    } catch {
        return undefined;
    }
}
