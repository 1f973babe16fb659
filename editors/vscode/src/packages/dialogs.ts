// `packageInstalls` is `PackageInstalls` with the editor's notifications.

import type { Cellgate } from "../cellgate";
import { fail, inform, showCancellableProgress } from "../notices";
import { escapeLines } from "../text";
import { PackageInstalls } from "./install";

export function packageInstalls({ sidecar, log }: Pick<Cellgate, "sidecar" | "log">): PackageInstalls {
    return new PackageInstalls(sidecar, {
        progress: showCancellableProgress,
        installed: (message) => void inform(`cellgate: ${message}`),
        failed(message, output) {
            log.error(`${message}\n${escapeLines(output)}`);
            void fail(`cellgate: ${message}`, "Show Output").then((answer) => {
                if (answer) log.show();
            });
        },
    });
}
