// `revealOnArrival` draws the user's attention to what begins to wait: it reveals the view, and offers the editor tab
// when much waits. Neither takes the focus from the editor.

import * as vscode from "vscode";
import { inform } from "../notices";
import { EditorOffer } from "./editorOffer";
import type { ApprovalsPanel } from "./panel";
import type { ApprovalsView } from "./view";
import type { Waiting } from "./waiting";

const openInEditor = "Open in Editor";

async function offerEditor(panel: ApprovalsPanel): Promise<void> {
    const chosen = await inform("cellgate: many calls wait for your answer. An editor tab has room for all of them.", openInEditor);
    if (chosen === openInEditor) panel.show();
}

export function revealOnArrival(viewId: string, waiting: Waiting, view: ApprovalsView, panel: ApprovalsPanel): { dispose(): void } {
    const offer = new EditorOffer();
    let before = 0;
    return waiting.onDidChange(() => {
        const { count } = waiting;
        const begins = before === 0 && count > 0;
        before = count;
        const isManyNew = offer.take(count, panel.isOpen);
        if (!vscode.workspace.getConfiguration("cellgate").get<boolean>("showApprovals", true)) return;
        if (begins && !view.visible && !panel.visible) {
            void vscode.commands.executeCommand(`${viewId}.focus`, { preserveFocus: true });
        }
        if (isManyNew) void offerEditor(panel);
    });
}
