// These functions describe rules and decisions to the user.

import { createHash } from "node:crypto";
import { decisionText } from "../approvals/pending";
import type { Action, ArgumentMatchers, Confirmation, Injection, PastDecision, PolicyExplainResult, PolicyPreviewResult, Rule, RuleSpec } from "../protocol/messages";
import { escapeUnprintable, plain } from "../text";

type Source = Rule["source"];

/** The groups of the view: what ends soonest first. */
export const sources: readonly { source: Source; title: string; until: string }[] = [
    { source: "execution", title: "While a cell runs", until: "until that cell has ended" },
    { source: "session", title: "In a session", until: "until that session ends" },
    { source: "workspaceStore", title: "In this workspace", until: "kept for this workspace" },
    { source: "userStore", title: "Everywhere", until: "kept for all your workspaces" },
    { source: "user", title: "From the settings of an editor", until: "as long as cellgate runs" },
    { source: "commandLine", title: "From the command line", until: "as long as cellgate runs" },
    { source: "default", title: "Part of cellgate", until: "always" },
];

/** What it covers. */
export function ruleText(rule: RuleSpec & Pick<Rule, "payloadHash">): string {
    return `${coveredText(rule)}${rule.confirm === undefined ? "" : ", confirmed by a touch of a security key"}`;
}

function coveredText(rule: RuleSpec & Pick<Rule, "payloadHash">): string {
    const { kind, server, tool, host, protocol, payloadHash } = rule;
    const exact = payloadHash === undefined ? "" : " (exactly one payload)";
    const args = argumentsText(rule.arguments);
    const of = server === undefined ? "" : ` of ${escapeUnprintable(server)}`;
    switch (kind) {
        case "server":
            return `start ${server === undefined ? "any tool server" : escapeUnprintable(server)}${exact}`;
        case "network":
            return `${protocol ? "connect by any protocol to" : "connect to"} ${host === undefined ? "any host" : escapeUnprintable(host)}${server === undefined ? "" : ` for ${escapeUnprintable(server)}`}${exact}`;
        case "request":
            return `${requestsText(rule)}${server === undefined ? "" : ` for ${escapeUnprintable(server)}`}${args}${exact}`;
        case "install":
            return `install packages${exact}`;
        case "output":
            return `output to agents${exact}`;
        case "tool":
        case "host":
            return `${tool === undefined ? "any tool" : escapeUnprintable(tool)}${of}${args}${exact}`;
        case undefined:
            return `anything${of}${args}${exact}`;
    }
}

/** "GET, HEAD api.example.org/repos/**", "requests to api.example.org, with ${secret:TOKEN} as bearer". */
function requestsText({ host, methods, paths, inject, openapi }: RuleSpec): string {
    const [first, ...others] = paths ?? [];
    const where = `${host ?? "any host"}${first === undefined || first.startsWith("/") ? "" : " "}${first ?? ""}`;
    const what = `${methods ? `${methods.join(", ")} ` : "requests to "}${[where, ...others].join(" and ")}`;
    const described = openapi === undefined ? "" : `, described by ${openapi}`;
    return escapeUnprintable(`${what}${inject ? injectionText(inject) : ""}${described}`);
}

function injectionText({ as, name, value, variable }: Injection): string {
    if (as === "aws") return `, signed for AWS with ${value}`;
    return `, with ${value} as ${as}${name === undefined ? "" : ` ${name}`}${variable === undefined ? "" : `, and a placeholder in ${variable}`}`;
}

const matcherWords: Record<string, string> = { equals: "=", glob: "like", under: "under", in: "one of", lessThan: "less than" };

function argumentsText(matchers: ArgumentMatchers | undefined): string {
    const texts = Object.entries(matchers ?? {}).map(([pointer, matcher]) => {
        const [how, value] = Object.entries(matcher)[0] as [string, unknown];
        const what = typeof value === "string" ? value : JSON.stringify(value);
        return escapeUnprintable(`${pointer.slice(1)} ${matcherWords[how] ?? how} ${what}`);
    });
    return texts.length > 0 ? ` with ${texts.join(" and ")}` : "";
}

export function actionText(action: Action): string {
    const { kind, server, tool, host, port, protocol, command } = action;
    if (kind === "request") return escapeUnprintable(requestText(action));
    if (kind === "output") return escapeUnprintable(outputText(action));
    if (tool !== undefined) return escapeUnprintable(`${tool} of ${server ?? ""}`);
    if (host !== undefined) return escapeUnprintable(`${protocol ? "any bytes to" : "connect to"} ${host}${port === undefined ? "" : ` port ${port}`}`);
    if (kind === "server") return escapeUnprintable(`start ${server ?? ""}`);
    return escapeUnprintable(`${kind} ${(command ?? []).join(" ")}`);
}

/** As actionText(), with the first argument of a call: by which a row is told from others. */
export function callText(action: Action): string {
    const value = action.tool === undefined ? undefined : firstValue(action.argumentsText ?? "{}");
    return `${actionText(action)}${value === undefined ? "" : `: ${escapeUnprintable(value.slice(0, 100))}`}`;
}

function firstValue(argumentsText: string): string | undefined {
    try {
        const [value] = Object.values(JSON.parse(argumentsText) as object) as unknown[];
        return typeof value === "string" ? value : JSON.stringify(value);
    } catch {
        return undefined;
    }
}

/** "output to an agent, which may have results of gmail/list" */
function outputText({ results }: Action): string {
    return `output to an agent${results ? `, which may have results of ${results.join(", ")}` : ""}`;
}

/** "POST https://api.example.org/graphql" */
function requestText({ method, host, port, path, tls = true }: Action): string {
    const isSocket = method === "WEBSOCKET";
    const scheme = `${isSocket ? "ws" : "http"}${tls ? "s" : ""}`;
    const isUsual = port === undefined || port === (tls ? 443 : 80);
    return `${isSocket ? "open" : (method ?? "")} ${scheme}://${host ?? ""}${isUsual ? "" : `:${port}`}${path ?? ""}`;
}

export function explanationText({ effect, reason, rule }: PolicyExplainResult): string {
    const verdict = { allow: "would be allowed", ask: "would be asked about", deny: "would be denied", inspect: "would be asked about", review: "would be asked about" }[effect];
    return `${verdict}${rule ? ` by ${sourcedText(rule)}` : ""}: ${escapeUnprintable(reason)}`;
}

/** How it was decided, in a few words. */
export function pastText({ decision, by, rule, confirmation }: PastDecision): string {
    const verdict = decision === "allow" ? "allowed" : "denied";
    switch (by) {
        case "rule":
            return rule?.effect === decision ? `${verdict} by a rule: ${titleOf(rule)}` : `${verdict} without a question`;
        case "user":
            return `${verdict} by a user${rule ? `, with a rule: ${titleOf(rule)}` : ""}${confirmation ? `, ${confirmationText(confirmation)}` : ""}`;
        default:
            return decisionText({ how: { decision, by }, here: false });
    }
}

/** The fingerprint is as `ssh-keygen -l` prints it. */
function confirmationText({ publicKey }: Confirmation): string {
    const key = Buffer.from(publicKey.split(" ")[1] ?? "", "base64");
    const fingerprint = createHash("sha256").update(key).digest("base64").replace(/=+$/, "");
    return `confirmed by a touch of a security key (SHA256:${fingerprint})`;
}

const ends = { succeeded: "succeeded", failed: "failed", cancelled: "was cancelled", unknown: "was left to the agent" };

/** What became of it; nothing of what was denied. */
export function outcomeText({ decision, outcome, cancellable }: PastDecision): string | undefined {
    if (decision === "deny") return undefined;
    if (!outcome) return cancellable ? "it goes on" : "it has not ended";
    const { status, error, bytesSent, bytesReceived } = outcome;
    const carried = bytesSent === undefined || bytesReceived === undefined ? "" : `, ${bytesSent} bytes sent and ${bytesReceived} received`;
    return `it ${ends[status]}${error === undefined ? "" : `: ${escapeUnprintable(error)}`}${carried}`;
}

/** Why it was decided so, what became of it, and what would happen `now`. */
export function pastReason(past: PastDecision, now?: PolicyExplainResult): string {
    const { decision, rule, by, reason } = past;
    const verdict = decision === "allow" ? "allowed" : "denied";
    const byRule = by === "rule" && rule?.effect === decision;
    const why = byRule ? `${verdict} by ${sourcedText(rule)}` : `${pastText(past)}: ${escapeUnprintable(reason)}`;
    const outcome = outcomeText(past);
    const ended = outcome && past.outcome ? `; ${outcome}` : "";
    return `${escapeUnprintable(past.display[0] ?? "")}: ${why}${ended}.${now ? ` Now it ${explanationText(now)}.` : ""}`;
}

/** All of a decision that a user reads; `became`: what became of its action. */
export function pastDetails(past: PastDecision, became?: string): string[] {
    const { display, reason, agent, edited, origin, action } = past;
    const lines = [
        ...display,
        "",
        `${pastText(past)}: ${reason}`,
        ...(became === undefined ? [] : [became]),
        ...(agent === undefined ? [] : [`by agent ${agent}`]),
        ...(edited ? [action?.kind === "request" ? "A user changed the request." : "A user changed the arguments."] : []),
        ...(origin ? [`line ${origin.line + 1}, reported by the code: ${origin.text}`] : []),
        ...(action ? [] : ["Its payload was too large to keep."]),
    ];
    return lines.map(plain);
}

function titleOf({ source }: Rule): string {
    return sources.find((each) => each.source === source)?.title ?? source;
}

function sourcedText(rule: Rule): string {
    return `the rule “${rule.effect} ${ruleText(rule)}” (${titleOf(rule)})`;
}

const count = (number: number, what: string) => `${number} action${number === 1 ? "" : "s"} that ${number === 1 ? "was" : "were"} ${what}`;

/** What a rule would have done in the last 30 days. */
export function previewText({ effect }: RuleSpec, { allowed, denied }: PolicyPreviewResult): string {
    if (effect === "inspect") return "It decides nothing; each request to the host is then judged by itself.";
    if (effect === "review") return "It decides nothing; what an agent gets of a session that has such results then waits for you.";
    if (allowed + denied === 0) return "It covers no action of the last 30 days.";
    const covers = `Of the last 30 days it covers ${count(allowed, "allowed")} and ${count(denied, "denied")}.`;
    if (effect === "allow" && denied > 0) return `${covers} It would have allowed what was denied.`;
    return effect === "ask" ? `${covers} It would have asked about each.` : covers;
}
