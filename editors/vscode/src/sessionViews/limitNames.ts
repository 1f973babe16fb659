// `limitNames` is the limits of a session as a user sees and types them.

import type { LimitName, Limits } from "../protocol/messages";
import { bytesText } from "./figures";

export interface Limit {
    readonly name: LimitName;
    /** In `cellgate.session.limits`; the timeout has a setting of its own. */
    readonly setting: string;
    readonly title: string;
    readonly unit: "bytes" | "seconds" | "count" | "part";
}

export const limitNames: readonly Limit[] = [
    { name: "memoryBytes", setting: "memory", title: "Memory of each process, and of all together", unit: "bytes" },
    { name: "processCount", setting: "processes", title: "Processes and threads", unit: "count" },
    { name: "cpuCores", setting: "cores", title: "Processors that may be busy", unit: "part" },
    { name: "cpuSeconds", setting: "cpuSeconds", title: "Processor time of each process", unit: "seconds" },
    { name: "wallSeconds", setting: "timeout", title: "Time of each execution", unit: "seconds" },
    { name: "openFiles", setting: "openFiles", title: "Open files of each process", unit: "count" },
    { name: "fileSizeBytes", setting: "fileSize", title: "Size of each file that is written", unit: "bytes" },
    { name: "diskBytes", setting: "disk", title: "Scratch space: /tmp, /dev/shm and the home, each", unit: "bytes" },
];

export function titleOf(name: LimitName): string {
    return limitNames.find((each) => each.name === name)?.title ?? name;
}

export function limitText({ name, unit }: Limit, limits: Limits | undefined): string {
    const value = limits?.[name];
    if (value === undefined) return "default";
    return unit === "bytes" ? bytesText(value) : unit === "seconds" ? `${value} s` : String(value);
}

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
