// `input` registers the input box in which the user answers code that reads standard input. Escape, or the end of the
// execution, is the end of the file for the code. While a request is hidden behind something else, the status bar says
// so and a click shows it again.

import * as vscode from "vscode";
import type { Cellgate } from "../cellgate";
import { CellItems } from "../notebooks/cellItems";
import { label } from "../text";
import { documentName } from "../uris";
import { showBox, type InputBox } from "./box";
import { InputRequests } from "./requests";

const waitingItem = { text: "$(edit) waits for input", tooltip: "Shows what the code asks", command: "cellgate.answerInput" };

export function input({ sidecar, executions }: Cellgate): vscode.Disposable {
    let box: InputBox | undefined;
    const requests = new InputRequests((request, typed) => (box = showBox(request, typed)));
    const status = vscode.window.createStatusBarItem("cellgate.input", vscode.StatusBarAlignment.Left, 13);
    status.name = "cellgate: code that asks";
    status.command = "cellgate.answerInput";
    status.backgroundColor = new vscode.ThemeColor("statusBarItem.warningBackground");
    const setContext = (key: string, value: boolean) => void vscode.commands.executeCommand("setContext", key, value);

    function show(): void {
        const unseen = requests.unseen();
        setContext("cellgate.inputShown", requests.isShown);
        setContext("cellgate.inputWaiting", unseen !== undefined);
        if (!unseen) {
            status.hide();
            return;
        }
        const { first, count } = unseen;
        const more = count === 1 ? "" : `, and ${count - 1} more`;
        status.text = `$(edit) ${label(first.where, 60)} waits for input${more}`;
        status.tooltip = `${label(first.prompt.trim(), 300)}\nClick to answer. “Send End of Input” is the end of it.`.trimStart();
        status.accessibilityInformation = { label: `cellgate: ${first.where} waits for input${more}` };
        status.show();
    }

    return vscode.Disposable.from(
        requests,
        new CellItems(executions, executions.onDidChange, (executionId) => (executions.get(executionId)?.waitsForInput ? waitingItem : undefined)),
        status,
        requests.onDidChange(show),
        // What another connection was asked, this one cannot answer.
        sidecar.onDidChangeState(({ kind }) => {
            if (kind !== "connected") requests.rejectAll();
        }),
        sidecar.onRequest("input/request", async ({ executionId, prompt, password }, token) => {
            const cell = executions.get(executionId)?.cell;
            const where = cell ? `${documentName(cell.uri)}, line ${cell.line + 1}` : "a cell";
            executions.waitForInput(executionId, true);
            try {
                return { value: await requests.ask({ where, prompt, password }, token) };
            } finally {
                executions.waitForInput(executionId, false);
            }
        }),
        vscode.commands.registerCommand("cellgate.answerInput", () => requests.resume()),
        vscode.commands.registerCommand("cellgate.endInput", async (by?: "key") => {
            if (requests.isShown) box?.endInput();
            // Something else has come up in the meantime, and Escape is for that.
            else if (by === "key") await vscode.commands.executeCommand("workbench.action.closeQuickOpen");
            else requests.endFirst();
        }),
    );
}
