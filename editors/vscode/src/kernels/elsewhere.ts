// `KernelsElsewhere` are the kernels that cellgate does not start on this machine and that the user has chosen in this
// workspace: those on Jupyter servers, and those that already ran. They are offered again, to notebooks too.

import { Emitter, type Disposable, type Event } from "vscode-jsonrpc/node";
import type { Memory } from "../documents";
import type { KernelChoice } from "../protocol/messages";

export interface KernelElsewhere {
    /** For the user, such as "Python 3 on hub.example.org". */
    readonly name: string;
    /** Undefined: not known before it runs code. */
    readonly language?: string;
    readonly kernel: KernelChoice;
}

const memoryKey = "cellgate.kernelsElsewhere";
const maxKept = 5;

/** Text that is the same for the same choice. */
export const sameFields = ({ name, interpreter, connectionFile, server }: KernelChoice = {}) =>
    JSON.stringify([name, interpreter, connectionFile, server?.url, server?.name]);

export class KernelsElsewhere implements Disposable {
    private readonly changed = new Emitter<void>();
    readonly onDidChange: Event<void> = this.changed.event;

    constructor(private readonly memory: Memory) {}

    dispose(): void {
        this.changed.dispose();
    }

    /** The latest first. */
    all(): KernelElsewhere[] {
        return this.memory.get<KernelElsewhere[]>(memoryKey, []);
    }

    async add(chosen: KernelElsewhere): Promise<void> {
        const others = this.all().filter(({ kernel }) => sameFields(kernel) !== sameFields(chosen.kernel));
        await this.memory.update(memoryKey, [chosen, ...others].slice(0, maxKept));
        this.changed.fire();
    }
}

/** Of an address: the host with its port, which a user knows a server by. */
export function hostOf(url: string): string {
    return /^\w+:\/\/([^/]*)/.exec(url)?.[1] ?? url;
}
