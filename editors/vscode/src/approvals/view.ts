// `ApprovalsView` is the approvals page in the side bar, with the number of what waits as its badge.

import type * as vscode from "vscode";
import type { PageConnection } from "./pageConnection";
import type { PageLoader } from "./pageLoader";
import type { Waiting } from "./waiting";

export class ApprovalsView implements vscode.WebviewViewProvider {
    private view: vscode.WebviewView | undefined;
    private page: PageConnection | undefined;
    private readonly subscription: { dispose(): void };

    constructor(
        private readonly waiting: Waiting,
        private readonly loadPage: PageLoader,
    ) {
        this.subscription = waiting.onDidChange(() => this.showCount());
    }

    dispose(): void {
        this.subscription.dispose();
        this.page?.dispose();
    }

    get visible(): boolean {
        return this.view?.visible ?? false;
    }

    resolveWebviewView(view: vscode.WebviewView): void {
        const page = this.loadPage(view, "sideBar");
        this.view = view;
        this.page = page;
        view.onDidChangeVisibility(() => page.sendVisibility());
        view.onDidDispose(() => {
            this.view = undefined;
            this.page = undefined;
        });
        this.showCount();
    }

    refresh(): void {
        this.page?.refresh();
    }

    private showCount(): void {
        if (!this.view) return;
        const { count, text } = this.waiting;
        // A badge of undefined would leave the last one on the icon.
        this.view.badge = { value: count, tooltip: count === 0 ? "" : text };
    }
}
