// These functions describe sessions to the user.

import { hostOf } from "../kernels/elsewhere";
import type { Session } from "../sessions";
import { label } from "../text";

export function ownerOf({ agent }: Pick<Session, "agent">): string {
    return agent === undefined ? "you" : `agent ${label(agent, 60)}`;
}

export function statusOf({ status, reason, queueLength }: Pick<Session, "status" | "reason" | "queueLength">): string {
    const waiting = queueLength > 0 ? `, ${queueLength} waiting` : "";
    return `${status}${waiting}${reason ? `: ${label(reason)}` : ""}`;
}

interface Weakness {
    readonly icon: "unlock" | "remote";
    readonly short: string;
    readonly long: string;
}

/** What everybody who looks should know of a session that a whole sandbox of this machine does not hold. */
export function weaknessOf({ sandbox, kernel: { server, connectionFile } }: Pick<Session, "sandbox" | "kernel">): Weakness | undefined {
    const icon = "unlock";
    if (server !== undefined) {
        const long = `On the Jupyter server ${label(server)}: its code can do there all that the server lets it do, unasked.`;
        return { icon: "remote", short: `on ${label(hostOf(server), 60)}`, long };
    }
    if (connectionFile !== undefined) {
        return { icon, short: "unsandboxed", long: "Its kernel already ran, without cellgate's sandbox: its code can do all that the kernel can." };
    }
    if (sandbox === "none") return { icon, short: "unsandboxed", long: "Without a sandbox: its code can do all that you can." };
    if (sandbox === "landlock") {
        return { icon, short: "weaker sandbox", long: "In the weaker sandbox, without namespaces and without a network." };
    }
    return undefined;
}

const layerWords: readonly (readonly [RegExp, string])[] = [
    [/^(mount|pid|ipc|uts|user)-namespace$/, "files and processes of its own"],
    [/^network-namespace$/, "no network but through the gate"],
    [/^(seccomp|no-new-privileges|landlock)$/, "fewer rights"],
    [/^protected-files$/, "protected files"],
    [/-(limit|cgroup)$/, "limits"],
];

/** The layers of a sandbox in short words; one that has none is named. That it is bwrap's or another's is said elsewhere. */
export function layersText(layers: readonly string[]): string {
    const words = layers.slice(1).map((layer) => layerWords.find(([names]) => names.test(layer))?.[1] ?? layer);
    return [...new Set(words)].join(", ");
}

export function iconOf({ status }: Pick<Session, "status">): string {
    return { starting: "sync~spin", restarting: "sync~spin", busy: "sync~spin", idle: "circle-filled", dead: "error" }[status];
}
