// `Cellgate` is the context that every part of the extension gets when it is registered.

import type * as vscode from "vscode";
import type { Waiting } from "./approvals/waiting";
import type { Changes } from "./changes/changes";
import type { Launch } from "./client/connection";
import type { Sidecar } from "./client/sidecar";
import type { Anchors } from "./cells/anchors";
import type { Documents } from "./documents";
import type { Executions } from "./executions";
import type { Kernels } from "./kernels/kernels";
import type { Sessions } from "./sessions";
import type { SessionSettings } from "./sessionSettings/sessionSettings";

export interface Cellgate {
    readonly extension: vscode.ExtensionContext;
    readonly version: string;
    readonly log: vscode.LogOutputChannel;
    /** The folder that cells work in. */
    readonly root: vscode.Uri;
    /** The program's path. Throws where there is none. */
    program(): string;
    /** How to start a subcommand of cellgate for the root. Throws where there is no program. */
    launch(subcommand: "connect" | "mcp"): Launch;
    readonly sidecar: Sidecar;
    readonly sessions: Sessions;
    readonly executions: Executions;
    /** Which executions changed files. */
    readonly changes: Changes;
    /** What waits for the user's answer. */
    readonly waiting: Waiting;
    readonly documents: Documents;
    /** Where the lines of each run are now. */
    readonly anchors: Anchors;
    readonly kernels: Kernels;
    readonly sessionSettings: SessionSettings;
}

/** A part of the extension: disposing the result removes everything that it registered. */
export type Part = (cellgate: Cellgate) => { dispose(): void };
