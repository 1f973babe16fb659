// `WaitingStatus` is the status bar item with the number of waiting calls and questions. A click on it shows the approvals view.

import * as vscode from "vscode";
import type { Waiting } from "./waiting";

export class WaitingStatus implements vscode.Disposable {
    private readonly item: vscode.StatusBarItem;

    constructor(viewId: string) {
        this.item = vscode.window.createStatusBarItem(viewId, vscode.StatusBarAlignment.Left, 12);
        this.item.name = "cellgate: approvals";
        this.item.command = `${viewId}.focus`;
        this.item.backgroundColor = new vscode.ThemeColor("statusBarItem.warningBackground");
    }

    dispose(): void {
        this.item.dispose();
    }

    show({ count, text }: Pick<Waiting, "count" | "text">): void {
        this.item.text = `$(bell-dot) ${text}`;
        this.item.accessibilityInformation = { label: `cellgate: ${text}` };
        if (count > 0) this.item.show();
        else this.item.hide();
    }
}
