// `agentEdits` tells the user that an agent's code has changed files that are open in tabs, and offers the difference and
// the undo. The editor itself reads such a file again, unless the tab has changes that are not saved.

import * as vscode from "vscode";
import type { Cellgate } from "../cellgate";
import { inform, showError } from "../notices";
import type { ChangesFoundParams } from "../protocol/messages";
import type { Differences } from "./differences";
import { EditBursts, type AgentEdit } from "./editBursts";
import type { FileList } from "./fileList";
import { agentEditText } from "./labels";
import type { Undo } from "./undo";

const show = "Show Changes";
const undoIt = "Undo…";
const keep = "Keep";

export function agentEdits({ changes, sidecar, root }: Cellgate, differences: Differences, list: FileList, undo: Undo): vscode.Disposable {
    const showOne = async ({ executionId, paths }: AgentEdit) => {
        const [first, ...others] = (await sidecar.request("changes/list", { executionId })).files.filter(({ path }) => paths.includes(path));
        await (first && others.length === 0 ? differences.show(executionId, first) : list.show(executionId));
    };
    const tell = async (edits: readonly AgentEdit[]) => {
        const [first, ...others] = edits;
        if (!first) return;
        const one = others.length === 0;
        const message = agentEditText(first.agent, edits);
        let choice = await inform(message, show, undoIt, keep);
        if (choice === show) {
            await (one ? showOne(first) : vscode.commands.executeCommand("cellgate.showChanges"));
            choice = await inform(message, undoIt, keep);
        }
        if (choice === undoIt) await (one ? undo.run(first.executionId, [...first.paths]) : vscode.commands.executeCommand("cellgate.undoChanges"));
    };
    const bursts = new EditBursts((edits) => void tell(edits).catch(showError));
    const note = async ({ executionId, agent, undoOf }: ChangesFoundParams) => {
        const tabs = openTabs();
        if (agent === undefined || undoOf !== undefined || tabs.size === 0) return;
        const tabOf = (path: string) => tabs.get(vscode.Uri.joinPath(root, path).toString());
        const paths = (await sidecar.request("changes/list", { executionId })).files.map(({ path }) => path).filter(tabOf);
        if (paths.length > 0) bursts.add({ executionId, agent, paths, unsaved: paths.filter((path) => tabOf(path)?.isDirty) });
    };
    return vscode.Disposable.from(bursts, changes.onDidFind((found) => void note(found).catch(showError)));
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
