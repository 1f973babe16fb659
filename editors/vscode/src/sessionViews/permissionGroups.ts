// `permissionGroups` is what the code of a session may do now, in words: from its sandbox, the rules that hold for it, the
// tool servers, the secrets and the limits. Each row names what changes it.

import type { Profile, Rule, SecretInfo, SessionInfo, ToolServerInfo } from "../protocol/messages";
import { ruleText, sources } from "../rules/labels";
import { useOf } from "../secrets/labels";
import { profileText } from "../sessionSettings/profiles";
import { label } from "../text";
import { stateOf } from "../toolServers/labels";
import { layersText, weaknessOf } from "./labels";
import { inSentence, limitNames, limitOf, type Limit } from "./limitNames";

/** `beginning`: of a new rule. */
export type Change = { readonly setting: string } | { readonly rule: Rule } | { readonly limit: Limit } | { readonly beginning: string } | "profile" | "secrets" | "toolServers";

export interface PermissionRow {
    readonly text: string;
    readonly detail: string;
    readonly change?: Change;
}

export interface PermissionGroup {
    readonly title: string;
    readonly rows: readonly PermissionRow[];
}

export interface Facts {
    readonly session: Pick<SessionInfo, "sessionId" | "kernel" | "sandbox" | "layers" | "cwd" | "limits" | "agent" | "image" | "sandboxConfig" | "sandboxAdditions" | "sandboxNotices" | "profile">;
    readonly workspace: string;
    readonly rules: readonly Rule[];
    readonly servers: readonly ToolServerInfo[];
    readonly secrets: readonly SecretInfo[];
    readonly profiles: readonly Profile[];
}

export function permissionGroups(facts: Facts): PermissionGroup[] {
    const { session } = facts;
    const rules = facts.rules.filter(({ sessionId, server, kind }) => (sessionId ?? session.sessionId) === session.sessionId && !(server !== undefined && kind === "network"));
    const of = (...kinds: Rule["kind"][]) => rules.filter(({ kind }) => kinds.includes(kind)).map(ruleRow);
    const decided = (what: string, beginning: string, ruled: PermissionRow[]): PermissionRow[] => [
        ...ruled,
        { text: ruled.length === 0 ? `any ${what}` : `any other ${what}`, detail: "you are asked", change: { beginning } },
    ];
    return [
        { title: "Sandbox", rows: sandboxRows(session) },
        { title: "Profile", rows: [profileRow(facts)] },
        { title: "Files", rows: named("Files", fileRows(facts)) },
        { title: "Network", rows: named("Network", networkRows(session, decided("host", "allow network ", of("network", "request")))) },
        { title: "Tools", rows: named("Tools", [...facts.servers.map(serverRow), ...decided("call", "allow ", of("tool", "host", "server", undefined))]) },
        { title: "Packages and Output", rows: named("Packages and output", decided("package", "allow install ", of("install", "output"))) },
        { title: "Secrets", rows: named("Secrets", secretRows(facts)) },
        { title: "Limits", rows: named("Limit", limitNames.map((limit) => ({ text: inSentence(limit.title), detail: limitOf(limit, session), change: { limit } }))) },
    ];
}

/** A user who looks for rows of a kind types its name. */
const named = (kind: string, rows: PermissionRow[]) => rows.map((row) => ({ ...row, text: `${kind}: ${row.text}` }));

const unasked = (text: string): PermissionRow => ({ text, detail: "without asking you: there is no sandbox", change: { setting: "cellgate.sandboxLauncher" } });

function networkRows({ sandbox }: Facts["session"], hosts: PermissionRow[]): PermissionRow[] {
    if (sandbox === "none") return [unasked("any host")];
    return sandbox === "landlock" ? [{ text: "any host", detail: "not reached: this sandbox has no network" }] : hosts;
}

function sandboxRows(session: Facts["session"]): PermissionRow[] {
    const change = { setting: "cellgate.sandboxLauncher" };
    const weakness = weaknessOf(session);
    const image = session.image ? [{ text: `The image ${label(session.image.name)}`, detail: "in place of this machine's system", change: { setting: "cellgate.sandboxImage" } }] : [];
    return [
        { text: weakness ? weakness.long : `Sandbox: held by ${session.sandbox}`, detail: layersText(session.layers), change },
        ...image,
        ...(session.sandboxNotices ?? []).map((notice) => ({ text: label(notice, 300), detail: "", change })),
    ];
}

function profileRow({ session: { profile: name }, profiles }: Facts): PermissionRow {
    if (name === undefined) return { text: "Profile: none", detail: "any module may be imported, code is not checked", change: "profile" };
    const profile = profiles.find((each) => each.name === name);
    return { text: `Profile: ${label(name)}`, detail: profile ? profileText(profile) : "which is not there any more", change: "profile" };
}

function fileRows({ session, workspace }: Facts): PermissionRow[] {
    if (session.sandbox === "none") return [unasked("all that you can reach")];
    const change = { setting: "cellgate.sandboxConfig" };
    const { allowRead = [], allowWrite = [], gpu } = session.sandboxAdditions ?? {};
    return [
        { text: label(workspace), detail: "read and written, without its protected files and .env", change },
        { text: "your home", detail: "not seen", change },
        ...(session.image ? [] : [{ text: "the system and the interpreter (/usr, some of /etc …)", detail: "read", change }]),
        ...allowRead.map((path) => ({ text: label(path), detail: "read", change })),
        ...allowWrite.map((path) => ({ text: label(path), detail: "read and written", change })),
        ...(gpu ? [{ text: "the graphics cards", detail: "used", change }] : []),
        ...(session.sandboxConfig === undefined ? [] : [{ text: label(session.sandboxConfig), detail: "shows more, or hides", change }]),
    ];
}

function ruleRow(rule: Rule): PermissionRow {
    const { source, effect, uses } = rule;
    const until = sources.find((each) => each.source === source)?.until ?? source;
    const detail = `${effect}, ${until}${uses === undefined ? "" : `, for ${uses} more`}`;
    return { text: label(ruleText(rule), 300), detail, ...(source === "default" ? {} : { change: { rule } }) };
}

const serverRow = (server: ToolServerInfo): PermissionRow => ({
    text: label(server.name),
    detail: `${stateOf(server)}${server.sandbox === "none" ? ", outside the sandbox" : ""}`,
    change: "toolServers",
});

function secretRows({ secrets, session: { sessionId } }: Facts): PermissionRow[] {
    const rows = secrets.filter((secret) => (secret.sessionId ?? sessionId) === sessionId)
        .map((secret): PermissionRow => ({ text: label(secret.name), detail: `never seen by code; ${useOf(secret)}`, change: "secrets" }));
    return rows.length > 0 ? rows : [{ text: "none", detail: "", change: "secrets" }];
}
