// `RuleLoader` reads rules and past decisions into the tree, one read at a time.

import type { Sidecar } from "../client/sidecar";
import { isPeerError, textOf } from "../client/errors";
import type { RuleTree } from "./tree";

export class RuleLoader {
    private loading: Promise<void> | undefined;
    private next: Promise<void> | undefined;

    constructor(
        private readonly sidecar: Pick<Sidecar, "request">,
        private readonly tree: Pick<RuleTree, "show">,
    ) {}

    /** Resolves after a read that began after this call. All calls during one read share the next one. */
    load(): Promise<void> {
        if (!this.loading) return (this.loading = this.read().finally(() => (this.loading = undefined)));
        return (this.next ??= this.loading.then(() => {
            this.next = undefined;
            return this.load();
        }));
    }

    private async read(): Promise<void> {
        // Separately: where stored rules cannot be read, past decisions still are.
        const [list, past] = await Promise.allSettled([this.sidecar.request("policy/list", {}), this.sidecar.request("policy/decisions", {})]);
        const failed = [list, past].find((each) => each.status === "rejected");
        this.tree.show(
            list.status === "fulfilled" ? list.value.rules : undefined,
            past.status === "fulfilled" ? past.value : undefined,
            // Without a connection, the next connection reads again.
            failed && isPeerError(failed.reason) ? textOf(failed.reason) : undefined,
        );
    }
}
