// `Figures` is what sessions used lately: of one as small plots of text.

import type { StatsResult } from "../protocol/messages";
import { label } from "../text";

const maxSamples = 8;
const bars = "▁▂▃▄▅▆▇█";

interface Samples {
    /** Of each: the seconds since some time, the processor time until then, and the memory then. */
    at: number[];
    processorSeconds: number[];
    memoryBytes: number[];
}

export class Figures {
    private readonly sessions = new Map<string, Samples>();
    private spareBytes: number | undefined;

    /** `now` in seconds. */
    add({ sessions, spareKernel }: Pick<StatsResult, "sessions" | "spareKernel">, now: number): void {
        this.spareBytes = spareKernel?.memoryBytes;
        for (const id of this.sessions.keys()) {
            if (!sessions.some(({ sessionId }) => sessionId === id)) this.sessions.delete(id);
        }
        for (const { sessionId, processorSeconds, memoryBytes } of sessions) {
            if (processorSeconds === undefined || memoryBytes === undefined) {
                this.sessions.delete(sessionId);
                continue;
            }
            let samples = this.sessions.get(sessionId);
            const last = samples?.processorSeconds.at(-1) ?? 0;
            // Less than before is another kernel's.
            if (!samples || processorSeconds < last) samples = { at: [], processorSeconds: [], memoryBytes: [] };
            samples.at.push(now);
            samples.processorSeconds.push(processorSeconds);
            samples.memoryBytes.push(memoryBytes);
            for (const values of [samples.at, samples.processorSeconds, samples.memoryBytes]) {
                values.splice(0, values.length - maxSamples - 1);
            }
            this.sessions.set(sessionId, samples);
        }
    }

    /** Of the session whose kernel runs here, or a line for each of several, and of the kernel that is kept ready. */
    text(): string | undefined {
        const all = this.sessions.size > 1 ? [...this.sessions].map(lineOf) : [...this.sessions.values()].map(plotsOf);
        if (this.spareBytes !== undefined) all.push(unbroken(`a kernel kept ready: ${bytesText(this.spareBytes)}`));
        return all.length > 0 ? all.join("; ") : undefined;
    }
}

/** The editor shows a message as one paragraph: this begins a new line where it does not fit. */
const unbroken = (text: string) => text.replaceAll(" ", "\u00a0").replaceAll("-", "-\u2060");

/** "50 % ▁▅ 64 MiB ▅█": of one processor, and memory. */
function plotsOf(samples: Samples): string {
    const busy = busyProcessors(samples);
    const memory = samples.memoryBytes.slice(-maxSamples);
    return `${percentText(busy)} ${plot(busy, Math.max(1, ...busy))} ${bytesText(memory.at(-1) ?? 0)} ${plot(memory, Math.max(...memory))}`;
}

/** "plan.py-4e929dac: 50 %, 64 MiB" */
function lineOf([sessionId, samples]: [string, Samples]): string {
    return unbroken(`${label(sessionId, 24)}: ${percentText(busyProcessors(samples))}, ${bytesText(samples.memoryBytes.at(-1) ?? 0)}`);
}

const percentText = (busy: number[]) => `${Math.round(100 * (busy.at(-1) ?? 0))} %`;

/** How many processors were busy between each two samples. */
function busyProcessors({ at, processorSeconds }: Samples): number[] {
    return at.slice(1).map((time, i) => {
        const spent = (processorSeconds[i + 1] ?? 0) - (processorSeconds[i] ?? 0);
        return spent / Math.max(time - (at[i] ?? 0), 0.001);
    });
}

/** A bar for each value, from 0 to `top`. */
function plot(values: number[], top: number): string {
    return values.map((value) => bars[Math.min(bars.length - 1, Math.round((value / top) * (bars.length - 1)))]).join("");
}

export function bytesText(bytes: number): string {
    for (const [unit, size] of [["GiB", 2 ** 30], ["MiB", 2 ** 20], ["KiB", 2 ** 10]] as const) {
        if (bytes >= size) return `${Number((bytes / size).toPrecision(3))} ${unit}`;
    }
    return `${bytes} B`;
}
