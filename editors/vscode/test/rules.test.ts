import assert from "node:assert/strict";
import { test } from "node:test";
import type { PastDecision, Rule } from "../src/protocol/messages";
import { actionText, explanationText, outcomeText, pastReason, pastText, previewText, ruleText } from "../src/rules/labels";

const rule = (more: Partial<Rule>): Rule => ({ id: "r", effect: "allow", source: "session", ...more });

test("a rule says what it covers", () => {
    const read = { kind: "tool", server: "filesystem", tool: "read_file" } as const;
    const texts: [Partial<Rule>, string][] = [
        [read, "read_file of filesystem"],
        [{ ...read, arguments: { "/path": { under: "data" } } }, "read_file of filesystem with path under data"],
        [{ ...read, arguments: { "/n": { equals: 1 }, "/t": { glob: "a*" } } }, "read_file of filesystem with n = 1 and t like a*"],
        [{ ...read, payloadHash: "00" }, "read_file of filesystem (exactly one payload)"],
        [{ kind: "tool", server: "filesystem" }, "any tool of filesystem"],
        [{ kind: "server", server: "notes" }, "start notes"],
        [{ kind: "network", host: "*.example.org:443" }, "connect to *.example.org:443"],
        [{ kind: "network", server: "notes" }, "connect to any host for notes"],
        [{ kind: "install", payloadHash: "00" }, "install packages (exactly one payload)"],
        [{ effect: "ask" }, "anything"],
        [{ effect: "ask", kind: "output" }, "output to agents"],
        [{ effect: "review", kind: "tool", server: "gmail" }, "any tool of gmail"],
        [{ ...read, effect: "ask", confirm: "touch" }, "read_file of filesystem, confirmed by a touch of a security key"],
        [{ kind: "request", host: "api.example.org", methods: ["GET", "HEAD"], paths: ["/repos/**"] }, "GET, HEAD api.example.org/repos/**"],
        [{ kind: "request", host: "a.org", methods: ["POST"], paths: ["/x", "/y"], arguments: { "/q": { glob: "**m**" } } }, "POST a.org/x and /y with q like **m**"],
        [{ kind: "request", host: "a.org", server: "notes" }, "requests to a.org for notes"],
        [{ kind: "request", host: "a.org", paths: ["**/x"] }, "requests to a.org **/x"],
        [{ effect: "inspect", kind: "request", host: "a.org", inject: { as: "bearer", value: "${secret:T}" } }, "requests to a.org, with ${secret:T} as bearer"],
        [{ effect: "inspect", kind: "request", host: "a.org", openapi: "/a.json" }, "requests to a.org, described by /a.json"],
        [{ effect: "inspect", kind: "request", host: "a.org", inject: { as: "header", name: "X-Key", value: "${secret:T}", variable: "KEY" } },
            "requests to a.org, with ${secret:T} as header X-Key, and a placeholder in KEY"],
        [{ effect: "inspect", kind: "request", host: "*.amazonaws.com", inject: { as: "aws", value: "${secret:ID}:${secret:KEY}" } },
            "requests to *.amazonaws.com, signed for AWS with ${secret:ID}:${secret:KEY}"],
    ];
    for (const [more, text] of texts) assert.equal(ruleText(rule(more)), text);
});

test("names in rules and actions cannot hide or reorder anything", () => {
    assert.ok(!(/[\u202e\u200b]/.exec(ruleText(rule({ kind: "tool", server: "a\u202eb", tool: "c\u200bd" })))));
    assert.equal(actionText({ kind: "network", host: "a\u202eb", port: 443 }), "connect to a\\u{202e}b port 443");
    assert.equal(actionText({ kind: "install", command: ["pip", "x"] }), "install pip x");
    assert.equal(actionText({ kind: "server", server: "notes" }), "start notes");
    assert.equal(actionText({ kind: "output", outputText: "x" }), "output to an agent");
    assert.equal(actionText({ kind: "output", outputText: "x", results: ["gmail/list", "a/b\u202e"] }),
        "output to an agent, which may have results of gmail/list, a/b\\u{202e}");
    const request = { kind: "request", host: "api.example.org", port: 443, method: "POST", path: "/graphql" } as const;
    assert.equal(actionText(request), "POST https://api.example.org/graphql");
    assert.equal(actionText({ ...request, port: 8080, tls: false, path: "/a\u202eb" }), "POST http://api.example.org:8080/a\\u{202e}b");
    assert.equal(actionText({ ...request, method: "WEBSOCKET" }), "open wss://api.example.org/graphql");
    assert.ok(!(/[\u202e]/.exec(ruleText(rule({ kind: "request", host: "a.org", paths: ["/\u202e"] })))));
});

test("an explanation names the rule and where it comes from", () => {
    const by = rule({ kind: "tool", server: "filesystem" });
    assert.equal(
        explanationText({ effect: "allow", reason: "a grant of the session", rule: by }),
        "would be allowed by the rule “allow any tool of filesystem” (In a session): a grant of the session",
    );
    assert.equal(explanationText({ effect: "ask", reason: "no rule matches" }), "would be asked about: no rule matches");
});

test("what was decided says by whom, and by which rule", () => {
    const by = rule({ kind: "tool", server: "filesystem" });
    const past = (more: Partial<PastDecision>): PastDecision => ({
        number: 1,
        decidedAt: "2026-01-05T09:31:00Z",
        decision: "allow",
        by: "rule",
        reason: "a\u202eb",
        display: ["tool x of filesystem"],
        ...more,
    });
    const texts: [Partial<PastDecision>, string][] = [
        [{ rule: by }, "allowed by a rule: In a session"],
        [{ decision: "deny" }, "denied without a question"],
        [{ decision: "deny", rule: rule({ effect: "ask" }) }, "denied without a question"],
        [{ by: "user" }, "allowed by a user"],
        [{ by: "user", decision: "deny", rule: rule({ effect: "deny", source: "userStore" }) }, "denied by a user, with a rule: Everywhere"],
        [{ by: "noClient", decision: "deny" }, "not allowed, no user was there"],
    ];
    for (const [more, text] of texts) assert.equal(pastText(past(more)), text);
    const endedAt = "2026-01-05T09:31:02Z";
    assert.equal(outcomeText(past({ decision: "deny" })), undefined);
    assert.equal(outcomeText(past({})), "it has not ended");
    assert.equal(outcomeText(past({ outcome: { status: "cancelled", endedAt } })), "it was cancelled");
    assert.equal(outcomeText(past({ outcome: { status: "succeeded", endedAt, bytesSent: 5, bytesReceived: 7 } })), "it succeeded, 5 bytes sent and 7 received");
    const failed = past({ by: "user", reason: "yes", outcome: { status: "failed", endedAt, error: "no\u202efile" } });
    assert.equal(pastReason(failed), "tool x of filesystem: allowed by a user: yes; it failed: no\\u{202e}file.");
    const allowed = "tool x of filesystem: allowed by the rule “allow any tool of filesystem” (In a session).";
    const now = { effect: "allow", reason: "a grant", rule: by } as const;
    assert.equal(pastReason(past({ rule: by })), allowed);
    assert.match(pastReason(past({ decision: "deny", rule: rule({ effect: "ask" }), reason: "it asks no user" })), /: denied without a question: it asks no user\.$/);
    assert.equal(pastReason(past({ rule: by }), { effect: "ask", reason: "no rule matches" }), `${allowed} Now it would be asked about: no rule matches.`);
    assert.equal(
        pastReason(past({ by: "user" }), now),
        "tool x of filesystem: allowed by a user: a\\u{202e}b. Now it would be allowed by the rule “allow any tool of filesystem” (In a session): a grant.",
    );
});

test("a confirmed answer names the key, as ssh-keygen prints it", () => {
    // Of an ed25519-sk key: `ssh-keygen -l` prints this fingerprint.
    const publicKey = "sk-ssh-ed25519@openssh.com AAAAGnNrLXNzaC1lZDI1NTE5QG9wZW5zc2guY29tAAAAILC+zsAZdhpPM2vWVKBauZsUZ5Z3/qJfmDmBSxPqsr9OAAAABHNzaDo=";
    const past: PastDecision = {
        number: 1,
        decidedAt: "2026-01-05T09:31:00Z",
        decision: "allow",
        by: "user",
        reason: "yes",
        display: ["tool send of gmail"],
        confirmation: { means: "touch", text: "cellgate approval\n", publicKey, signature: "-----BEGIN SSH SIGNATURE-----" },
    };
    assert.equal(pastText(past), "allowed by a user, confirmed by a touch of a security key (SHA256:c4h/vuI3jANJt3D1RoSJ8IiK33Ca7zkcM0Gr6GlgAdw)");
});

test("a new rule's preview counts what it covers", () => {
    const rule = { effect: "allow" } as const;
    const since = "2026-01-05T09:00:00Z";
    assert.equal(previewText(rule, { since, allowed: 0, denied: 0 }), "It covers no action of the last 30 days.");
    assert.equal(
        previewText(rule, { since, allowed: 214, denied: 1 }),
        "Of the last 30 days it covers 214 actions that were allowed and 1 action that was denied. It would have allowed what was denied.",
    );
    assert.match(previewText({ effect: "inspect" }, { since, allowed: 0, denied: 0 }), /decides nothing/);
    assert.match(previewText({ effect: "review" }, { since, allowed: 0, denied: 0 }), /decides nothing.*waits for you/);
    assert.match(previewText({ effect: "ask" }, { since, allowed: 1, denied: 0 }), /1 action that was allowed .*asked about each\.$/);
    assert.equal(ruleText({ effect: "deny", kind: "tool", server: "fs", arguments: { "/n": { lessThan: 3 }, "/k": { in: [1, 2] } } }),
        "any tool of fs with n less than 3 and k one of [1,2]");
});
