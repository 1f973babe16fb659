// `agentEdits` tells the user that an agent's code has changed a file that is open in a tab, and offers the difference and
// the undo. The editor itself reads such a file again, unless the tab has changes that are not saved.

import * as vscode from "vscode";
import type { Cellgate } from "../cellgate";
import { inform, showError } from "../notices";
import type { ChangedFile, ChangesFoundParams } from "../protocol/messages";
import type { Differences } from "./differences";
import type { FileList } from "./fileList";
import { agentEditText } from "./labels";
import type { Undo } from "./undo";

const show = "Show Changes";
const undoIt = "Undo…";
const keep = "Keep";

export function agentEdits({ changes, sidecar, root }: Cellgate, differences: Differences, list: FileList, undo: Undo): vscode.Disposable {
    const tell = async ({ executionId, agent, undoOf }: ChangesFoundParams) => {
        const tabs = openTabs();
        if (agent === undefined || undoOf !== undefined || tabs.size === 0) return;
        const tabOf = ({ path }: ChangedFile) => tabs.get(vscode.Uri.joinPath(root, path).toString());
        const files = (await sidecar.request("changes/list", { executionId })).files.filter(tabOf);
        const [first] = files;
        if (!first) return;
        const message = agentEditText(agent, files, files.filter((file) => tabOf(file)?.isDirty));
        let choice = await inform(message, show, undoIt, keep);
        if (choice === show) {
            await (files.length === 1 ? differences.show(executionId, first) : list.show(executionId));
            choice = await inform(message, undoIt, keep);
        }
        if (choice === undoIt) await undo.run(executionId, files.map(({ path }) => path));
    };
    return vscode.Disposable.from(changes.onDidFind((found) => void tell(found).catch(showError)));
}

/** By the URI of what they show. */
function openTabs(): Map<string, vscode.Tab> {
    const tabs = new Map<string, vscode.Tab>();
    for (const tab of vscode.window.tabGroups.all.flatMap((group) => group.tabs)) {
        const { input } = tab;
        const hasUri = input instanceof vscode.TabInputText || input instanceof vscode.TabInputNotebook || input instanceof vscode.TabInputCustom;
        if (hasUri) tabs.set(input.uri.toString(), tab);
    }
    return tabs;
}
