// `ApprovalsPanel` is the approvals page as an editor tab, where a long table has room. It opens only when the user asks
// for it: a tab that opened by itself would take the keys that the user types. After a reload of the window it stays
// closed, because it has no serializer.

import type * as vscode from "vscode";
import type { PageConnection } from "./pageConnection";
import type { PageLoader } from "./pageLoader";

export class ApprovalsPanel {
    private shown: { readonly panel: vscode.WebviewPanel; readonly page: PageConnection } | undefined;

    constructor(
        private readonly create: () => vscode.WebviewPanel,
        private readonly loadPage: PageLoader,
    ) {}

    dispose(): void {
        this.shown?.panel.dispose();
    }

    get isOpen(): boolean {
        return this.shown !== undefined;
    }

    get visible(): boolean {
        return this.shown?.panel.visible ?? false;
    }

    /** Opens the tab, or shows the one that is open. */
    show(): void {
        if (this.shown) {
            this.shown.panel.reveal();
            return;
        }
        const panel = this.create();
        const page = this.loadPage(panel, "editor");
        this.shown = { panel, page };
        panel.onDidChangeViewState(() => page.sendVisibility());
        panel.onDidDispose(() => {
            this.shown = undefined;
        });
    }

    refresh(): void {
        this.shown?.page.refresh();
    }
}
