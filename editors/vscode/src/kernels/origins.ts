// `Origins` records which kernel each session was requested with, and who chose it. It outlives the window, as sessions
// do. A session's own information is not enough: it names the interpreter that was resolved, and different choices can
// resolve to the same one.

import type { KernelChoice } from "../protocol/messages";
import type { Memory } from "../documents";
import type { Session } from "../sessions";
import { sameFields } from "./elsewhere";

export interface Origin {
    /** The document or notebook that it was started for. */
    readonly uri: string;
    /** Undefined: left to cellgate. */
    readonly kernel?: KernelChoice;
    /** It is what was chosen in the Python extension. */
    readonly ofPythonExtension?: true;
}

type Kept = Origin & { readonly createdAt: string };
type Which = Pick<Session, "sessionId" | "createdAt">;

const memoryKey = "cellgate.origins";
const maxOrigins = 200;

export class Origins {
    constructor(private readonly memory: Memory) {}

    async remember({ sessionId, createdAt }: Which, origin: Origin): Promise<void> {
        const others = Object.entries(this.kept()).filter(([id]) => id !== sessionId);
        const kept: Kept = { ...origin, createdAt };
        await this.memory.update(memoryKey, Object.fromEntries([...others, [sessionId, kept]].slice(-maxOrigins)));
    }

    /** Undefined of a session that was not started here, even where an earlier one of the same name was. */
    of({ sessionId, createdAt }: Which): Origin | undefined {
        const kept = this.kept()[sessionId];
        return kept?.createdAt === createdAt ? kept : undefined;
    }

    /** Whether the session was started here with another kernel than this one. */
    isOther(session: Which, kernel: KernelChoice): boolean {
        const origin = this.of(session);
        return origin !== undefined && sameFields(origin.kernel) !== sameFields(kernel);
    }

    private kept(): Record<string, Kept> {
        return this.memory.get<Record<string, Kept>>(memoryKey, {});
    }
}
