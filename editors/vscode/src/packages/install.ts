// `PackageInstalls` has the sidecar install packages: with what the package manager says while it runs, until the user
// cancels it. The sidecar asks the user first, and shows the exact command.

import { randomUUID } from "node:crypto";
import type { CancellationToken } from "vscode-jsonrpc";
import type { Sidecar } from "../client/sidecar";
import type { PackagesInstallResult } from "../protocol/messages";
import { label } from "../text";

export interface InstallDialogs {
    /** Shows `title` and what `work` reports, until it is done. Resolves with undefined where a user denied it. */
    progress<T>(title: string, work: (report: (message: string) => void, token: CancellationToken) => Promise<T>): PromiseLike<T | undefined>;
    installed(message: string): void;
    /** `output`: of the package manager. */
    failed(message: string, output: string): void;
}

/** Of what a user typed: `pandas npm:lodash`, with commas only in the versions of one package. */
export function packagesIn(text: string): string[] {
    return text.split(/\s+/).filter((word) => word !== "");
}

/** "pandas", "pandas and numpy", "pandas and 3 more". */
export function namesOf(packages: readonly string[]): string {
    const [first = "", ...others] = packages.map((each) => label(each, 60));
    const second = others.length === 1 ? others[0] : `${others.length} more`;
    return others.length === 0 ? first : `${first} and ${second}`;
}

export class PackageInstalls {
    constructor(
        private readonly sidecar: Pick<Sidecar, "request" | "onNotification">,
        private readonly dialogs: InstallDialogs,
    ) {}

    /** Whether they were installed. `sessionId`: whose interpreter, of Python packages; default: the workspace's. */
    async install(packages: string[], sessionId?: string): Promise<boolean> {
        const result = await this.dialogs.progress(`Installing ${namesOf(packages)}`, (report, token) =>
            this.request(packages, sessionId, report, token).catch((error: unknown) => {
                if (token.isCancellationRequested) return undefined;
                throw error;
            }),
        );
        if (!result) return false;
        if (result.status === "failed") {
            this.dialogs.failed(`nothing was installed: ${label(result.reason ?? "", 500)}`, result.output);
            return false;
        }
        const installed = result.installed.map(({ name, version }) => `${name} ${version}`).join(", ");
        this.dialogs.installed(`installed: ${label(installed, 500)}`);
        return true;
    }

    private async request(
        packages: string[],
        sessionId: string | undefined,
        report: (message: string) => void,
        token: CancellationToken,
    ): Promise<PackagesInstallResult> {
        const workDoneToken = randomUUID();
        const listening = this.sidecar.onNotification("$/progress", (progress) => {
            if (progress.token === workDoneToken && progress.value.message !== undefined) report(label(progress.value.message));
        });
        try {
            return await this.sidecar.request("packages/install", { packages, sessionId, workDoneToken }, token);
        } finally {
            listening.dispose();
        }
    }
}
