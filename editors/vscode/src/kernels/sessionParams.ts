// `sessionParams` makes what a session is created with fit the place of its kernel.

import type { SessionCreateParams } from "../protocol/messages";

/**
 * A kernel that cellgate does not start has no sandbox, and variables of its own; in an image, the image's Python is the
 * kernel, and none of this machine.
 */
export function sessionParams<T extends SessionCreateParams>(params: T): T {
    const { server, connectionFile } = params.kernel ?? {};
    if (server || connectionFile !== undefined) return { ...params, sandbox: undefined, env: undefined };
    return typeof params.sandbox === "object" && params.sandbox.image ? { ...params, kernel: undefined } : params;
}
