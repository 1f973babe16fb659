// `limitNames` is the limits of a session as a user sees and types them.

import type { LimitName, Limits, SessionInfo } from "../protocol/messages";
import { bytesText } from "./figures";

export interface Limit {
    readonly name: LimitName;
    /** In `cellgate.session.limits`; the timeout has a setting of its own. */
    readonly setting: string;
    readonly title: string;
    readonly unit: "bytes" | "seconds" | "count" | "part";
    /** In the sandbox, of a user's session. */
    readonly usual: string;
}

export const limitNames: readonly Limit[] = [
    { name: "memoryBytes", setting: "memory", title: "Memory of each process, and of all together", unit: "bytes", usual: "¾ of this machine's" },
    { name: "processCount", setting: "processes", title: "Processes and threads", unit: "count", usual: "4096" },
    { name: "cpuCores", setting: "cores", title: "Processors that may be busy", unit: "part", usual: "no limit" },
    { name: "cpuSeconds", setting: "cpuSeconds", title: "Processor time of each process", unit: "seconds", usual: "no limit" },
    { name: "wallSeconds", setting: "timeout", title: "Time of each execution", unit: "seconds", usual: "no limit" },
    { name: "openFiles", setting: "openFiles", title: "Open files of each process", unit: "count", usual: "the system's" },
    { name: "fileSizeBytes", setting: "fileSize", title: "Size of each file that is written", unit: "bytes", usual: "no limit" },
    { name: "diskBytes", setting: "disk", title: "Scratch space: /tmp, /dev/shm and the home, each", unit: "bytes", usual: "1 GiB in /tmp, 512 MiB in the others" },
];

export function titleOf(name: LimitName): string {
    return limitNames.find((each) => each.name === name)?.title ?? name;
}

export function limitText({ name, unit }: Limit, limits: Limits | undefined): string {
    const value = limits?.[name];
    if (value === undefined) return "default";
    return unit === "bytes" ? bytesText(value) : unit === "seconds" ? `${value} s` : String(value);
}

/** Each that is set. */
export function limitTexts(limits: Limits | undefined): string[] {
    const set = limitNames.filter(({ name }) => limits?.[name] !== undefined);
    return set.map((limit) => `${inSentence(limit.title)}: ${limitText(limit, limits)}`);
}

/** What holds for a session, as far as that is known here. */
export function limitOf(limit: Limit, { limits, agent, sandbox }: Pick<SessionInfo, "limits" | "agent" | "sandbox">): string {
    const text = limitText(limit, limits);
    const isUsual = limits?.[limit.name] === undefined && agent === undefined && sandbox === "bwrap";
    return isUsual ? `${text}: ${limit.usual}` : text;
}

export const inSentence = (title: string) => title.charAt(0).toLowerCase() + title.slice(1);

/** What to type, for the input's prompt. */
export function exampleOf({ unit }: Limit): string {
    return { bytes: "a size, such as 512M or 4G", seconds: "seconds", count: "a whole number", part: "a number, such as 1.5" }[unit];
}

const sizes: Record<string, number> = { "": 1, K: 2 ** 10, M: 2 ** 20, G: 2 ** 30, T: 2 ** 40 };

/** The number that was typed; nothing if it is none. */
export function parseLimit({ unit }: Limit, typed: string): number | undefined {
    const [, digits, letter = ""] = /^\s*(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?\s*$/i.exec(typed) ?? [];
    if (digits === undefined || (letter !== "" && unit !== "bytes")) return undefined;
    const value = Number(digits) * (sizes[letter.toUpperCase()] ?? 1);
    if (value <= 0 || (unit === "count" && !Number.isInteger(value))) return undefined;
    return unit === "bytes" ? Math.round(value) : value;
}
