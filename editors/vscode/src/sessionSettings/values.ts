// These functions make what a session is created with of the settings `cellgate.session.*` and of what the user chose for
// one session.

import type { Limits, SessionCreateParams } from "../protocol/messages";
import { exampleOf, limitNames, parseLimit } from "../sessionViews/limitNames";

/** What one session has in place of the settings. */
export interface Chosen {
    cwd?: string;
    env?: Record<string, string>;
    profile?: string;
}

export type CreateParams = Pick<SessionCreateParams, "cwd" | "env" | "limits" | "profile">;

/** Reads a setting below `cellgate.session`. */
export type Read = (name: string) => unknown;

const variable = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Of a setting that does not fit, an Error says what was expected. */
export function createParams(read: Read, chosen: Chosen = {}): CreateParams {
    const cwd = chosen.cwd ?? textOf(read, "cwd");
    const profile = chosen.profile ?? textOf(read, "profile");
    const env = chosen.env ?? variablesOf(read("env"));
    const limits = limitsOf(read);
    return {
        ...(cwd === "" ? {} : { cwd }),
        ...(profile === "" ? {} : { profile }),
        ...(Object.keys(env).length === 0 ? {} : { env }),
        ...(Object.keys(limits).length === 0 ? {} : { limits }),
    };
}

function textOf(read: Read, name: string): string {
    const value = read(name) ?? "";
    if (typeof value !== "string") throw misfit(name, "a text");
    return value;
}

function variablesOf(value: unknown): Record<string, string> {
    const entries = Object.entries((value ?? {}) as Record<string, unknown>);
    for (const [name, text] of entries) {
        if (typeof text !== "string" || !variable.test(name)) throw misfit(`env.${name}`, "a variable with a text");
    }
    return Object.fromEntries(entries) as Record<string, string>;
}

/** A timeout is the limit of the time of each execution. */
function limitsOf(read: Read): Limits {
    const given = { ...((read("limits") ?? {}) as Record<string, unknown>), timeout: read("timeoutSeconds") };
    const limits: Limits = {};
    for (const [key, value] of Object.entries(given)) {
        if (value === undefined || value === null) continue;
        const limit = limitNames.find(({ setting }) => setting === key);
        const isTyped = typeof value === "string" || typeof value === "number";
        const parsed = limit && isTyped ? parseLimit(limit, String(value)) : undefined;
        if (!limit || parsed === undefined) throw misfit(`limits.${key}`, limit ? exampleOf(limit) : limitNames.map(({ setting }) => setting).join(", "));
        limits[limit.name] = parsed;
    }
    return limits;
}

const misfit = (name: string, expected: string) => new Error(`the setting cellgate.session.${name} does not fit: expected ${expected}`);

/** `A=1 B=two words`: a variable begins at a name and `=` behind a blank. Undefined of anything else. */
export function parseVariables(typed: string): Record<string, string> | undefined {
    const text = typed.trim();
    if (text === "") return {};
    const starts = [...text.matchAll(/(?:^|\s)([A-Za-z_][A-Za-z0-9_]*)=/g)];
    if (starts[0]?.index !== 0) return undefined;
    return Object.fromEntries(
        starts.map((start, index) => [start[1], text.slice(start.index + start[0].length, starts[index + 1]?.index).trim()]),
    ) as Record<string, string>;
}

export function variablesText(env: Record<string, string>): string {
    return Object.entries(env).map(([name, value]) => `${name}=${value}`).join(" ");
}
