// `Figures` is what sessions used lately, as small plots of text.

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

    /** Of the sessions whose kernels run here, by their names where there are several, and of the one that is kept ready. */
    text(): string | undefined {
        const all = [...this.sessions].map(([id, samples]) => (this.sessions.size > 1 ? `${label(id, 24)}: ` : "") + textOf(samples));
        if (this.spareBytes !== undefined) all.push(`kept ready: ${bytesText(this.spareBytes)}`);
        return all.length > 0 ? all.join(" · ") : undefined;
    }
}

/** "50 % ▁▅ 64 MiB ▅█": of one processor, and memory. */
function textOf(samples: Samples): string {
    const busy = busyProcessors(samples);
    const memory = samples.memoryBytes.slice(-maxSamples);
    const percent = Math.round(100 * (busy.at(-1) ?? 0));
    return `${percent} % ${plot(busy, Math.max(1, ...busy))} ${bytesText(memory.at(-1) ?? 0)} ${plot(memory, Math.max(...memory))}`;
}

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
