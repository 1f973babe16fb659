// These functions describe secrets to the user. None knows a value.

import type { SecretInfo, SecretSetParams } from "../protocol/messages";
import { label, plain } from "../text";

export interface ScopeChoice extends Pick<SecretSetParams, "sessionId"> {
    readonly label: string;
    readonly description?: string;
    readonly scope: SecretInfo["scope"];
}

/** Where a new one can hold, the narrowest place first; `sessionId`: the session that the user works in. */
export function scopeChoices(sessionId: string | undefined): ScopeChoice[] {
    const wider: ScopeChoice[] = [
        { label: "This workspace", scope: "workspace" },
        { label: "All workspaces", scope: "user" },
    ];
    if (sessionId === undefined) return wider;
    return [{ label: "This session", description: `${label(sessionId)}: in memory, until it ends`, scope: "session", sessionId }, ...wider];
}

/** Whose it is, and where its value is. */
export function originOf({ scope, sessionId, source, from }: SecretInfo): string {
    if (scope === "session") return `session ${label(sessionId ?? "")}, in memory`;
    const owner = scope === "workspace" ? "this workspace" : "all workspaces";
    return `${owner}, ${from === undefined ? source : `${source}: ${label(from, 200)}`}`;
}

/** Who uses it, and when it was last used. */
export function useOf({ scope, usedBy, lastUsedAt }: SecretInfo): string {
    const none = scope === "session" ? "for requests of its code alone" : "used by no tool server";
    const users = usedBy.length === 0 ? none : `used by ${usedBy.map((name) => label(name, 100)).join(", ")}`;
    return lastUsedAt === undefined ? users : `${users}, last ${new Date(lastUsedAt).toLocaleString()}`;
}

export const isName = (text: string) => /^[A-Za-z_][A-Za-z0-9_]{0,127}$/.test(text);

/** What a configuration has in its place. */
export const variableOf = (name: string) => `\${secret:${plain(name)}}`;
