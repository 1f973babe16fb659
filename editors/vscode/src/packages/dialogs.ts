// `packageInstalls` is `PackageInstalls` with the editor's notifications.

import { whileAsked } from "../approvals/whileAsked";
import type { Cellgate } from "../cellgate";
import { fail, inform, showCancellableProgress } from "../notices";
import { escapeLines } from "../text";
import { PackageInstalls } from "./install";

export function packageInstalls({ sidecar, log, waiting }: Pick<Cellgate, "sidecar" | "log" | "waiting">): PackageInstalls {
    return new PackageInstalls(sidecar, {
        progress: (title, work) =>
            showCancellableProgress(title, (report, token) => {
                const denied = () => void inform("cellgate: nothing was installed.");
                return whileAsked(waiting.approvals, { isIts: ({ kind }) => kind === "install", report, denied }, () => work(report, token));
            }),
        installed: (message) => void inform(`cellgate: ${message}`),
        failed(message, output) {
            log.error(`${message}\n${escapeLines(output)}`);
            void fail(`cellgate: ${message}`, "Show Output").then((answer) => {
                if (answer) log.show();
            });
        },
    });
}
