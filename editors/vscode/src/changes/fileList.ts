// `FileList` is the pick of the files that an execution changed: each opens its difference, and undoes itself by its
// button.

import * as vscode from "vscode";
import type { Sidecar } from "../client/sidecar";
import { inform, showError } from "../notices";
import type { ChangedFile, ChangesListResult } from "../protocol/messages";
import { label } from "../text";
import type { Differences } from "./differences";
import { fileText, filesText, letters, notesOf } from "./labels";
import type { Undo } from "./undo";

interface Item extends vscode.QuickPickItem {
    readonly file?: ChangedFile;
    /** What choosing it does; of a note nothing. */
    readonly run?: () => Promise<void>;
}

const undoButton: vscode.QuickInputButton = { iconPath: new vscode.ThemeIcon("discard"), tooltip: "Undo This File…" };

export class FileList {
    constructor(
        private readonly sidecar: Pick<Sidecar, "request">,
        private readonly differences: Differences,
        private readonly undo: Undo,
    ) {}

    async show(executionId: string): Promise<void> {
        const list = await this.sidecar.request("changes/list", { executionId });
        if (list.files.length === 0) {
            await inform(`cellgate: no files are known that it changed. ${notesOf(list).join(" ")}`);
            return;
        }
        this.pick(list);
    }

    private pick(list: ChangesListResult): void {
        const { executionId } = list;
        const picker = vscode.window.createQuickPick<Item>();
        picker.title = `${filesText(list.count ?? list.files.length)} changed`;
        picker.placeholder = "Show the difference of which file?";
        picker.matchOnDescription = true;
        picker.items = this.itemsOf(list);
        picker.activeItems = picker.items.filter(({ file }) => file).slice(0, 1);
        const end = (work: Promise<void> | undefined) => {
            if (!work) return;
            picker.hide();
            work.catch(showError);
        };
        picker.onDidAccept(() => end(picker.selectedItems[0]?.run?.()));
        picker.onDidTriggerItemButton(({ item: { file } }) => end(file && this.undo.run(executionId, [file.path])));
        picker.onDidHide(() => picker.dispose());
        picker.show();
    }

    private itemsOf(list: ChangesListResult): Item[] {
        const { executionId, files, undoneBy } = list;
        const separator = (text: string) => ({ label: text, kind: vscode.QuickPickItemKind.Separator });
        const again = { label: "$(redo) Undo the Undo…", run: () => this.undo.run(undoneBy ?? "") };
        return [
            { label: "$(discard) Undo All…", run: () => this.undo.run(executionId) },
            ...(undoneBy === undefined ? [] : [again]),
            ...notesOf(list).map((note) => ({ label: `$(info) ${label(note, 300)}` })),
            separator("files"),
            ...files.map((file) => ({
                label: `${letters[file.kind]} ${label(file.path)}`,
                description: fileText(file),
                buttons: [undoButton],
                file,
                run: () => this.differences.show(executionId, file),
            })),
        ];
    }
}
