// These functions describe secrets to the user. None knows a value.

import type { SecretInfo } from "../protocol/messages";
import { label, plain } from "../text";

/** Whose it is, and where its value is. */
export function originOf({ scope, source, from }: SecretInfo): string {
    const owner = scope === "workspace" ? "this workspace" : "all workspaces";
    return `${owner}, ${from === undefined ? source : `${source}: ${label(from, 200)}`}`;
}

/** Who uses it, and when it was last used. */
export function useOf({ usedBy, lastUsedAt }: SecretInfo): string {
    const users = usedBy.length === 0 ? "used by no tool server" : `used by ${usedBy.map((name) => label(name, 100)).join(", ")}`;
    return lastUsedAt === undefined ? users : `${users}, last ${new Date(lastUsedAt).toLocaleString()}`;
}

export const isName = (text: string) => /^[A-Za-z_][A-Za-z0-9_]{0,127}$/.test(text);

/** What a configuration has in its place. */
export const variableOf = (name: string) => `\${secret:${plain(name)}}`;
