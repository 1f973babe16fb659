// These functions describe tool servers to the user.

import type { ToolServerInfo } from "../protocol/messages";
import { label } from "../text";

export function stateOf({ state, tools, authorization }: Pick<ToolServerInfo, "state" | "tools" | "authorization">): string {
    // A server that waits for agreement is not asked anything before.
    if (authorization === "needed" && state !== "pending") return "needs login";
    switch (state) {
        case "pending":
            return "waits for your agreement";
        case "stopped":
            return "starts when it is needed";
        case "running":
            return tools ? `running, ${tools.length === 1 ? "1 tool" : `${tools.length} tools`}` : "running";
        case "starting":
        case "failed":
            return state;
    }
}

/** `place`: how the user knows the file. */
export function sourceOf({ source, file }: Pick<ToolServerInfo, "source" | "file">, place: (file: string) => string): string {
    switch (source) {
        case "builtIn":
            return "part of cellgate";
        case "user":
            return "from the settings";
        case "commandLine":
            return "from the command line";
        case "workspaceFile":
            return file === undefined ? "from a file of the workspace" : `from ${label(place(file))}`;
        case "agent":
            return "from an agent";
    }
}

export const iconOf = ({ state, authorization }: Pick<ToolServerInfo, "state" | "authorization">): string =>
    authorization === "needed" && state !== "pending" ? "key" : ({ pending: "question", stopped: "circle-outline", starting: "sync~spin", running: "circle-filled", failed: "error" })[state];

/** By which the row's commands are chosen (package.json). */
export function contextOf({ state, source, authorization }: Pick<ToolServerInfo, "state" | "source" | "authorization">): string {
    if (source === "builtIn") return "builtInServer";
    return `${state}Server${{ none: "", needed: " needsLogin", granted: " loggedIn" }[authorization ?? "none"]}`;
}

/** What it runs, one line for each part, or where it is. */
export function commandLines({ command, url }: Pick<ToolServerInfo, "command" | "url">): string[] {
    if (url !== undefined) return [`at ${url}`];
    return (command ?? []).map((part, index) => `${index === 0 ? "program" : "argument"}: ${JSON.stringify(part)}`);
}

export function sandboxOf({ sandbox, layers }: Pick<ToolServerInfo, "sandbox" | "layers">): string | undefined {
    if (sandbox === undefined) return undefined;
    if (sandbox === "none") return "outside the sandbox, with all your rights";
    return `in the sandbox${layers ? `: ${layers.join(", ")}` : ""}`;
}
