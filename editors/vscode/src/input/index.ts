// Code that reads from standard input is answered in an input box. Escape, or a run that ended meanwhile, is the end of
// the file to the code. While a question waits behind something else, the status bar says so and leads back to it.

import * as vscode from "vscode";
import type { Cellgate } from "../cellgate";
import { label } from "../text";
import { documentName } from "../uris";
import { showBox, type InputBox } from "./box";
import { Questions } from "./questions";

export function input({ sidecar, executions }: Cellgate): vscode.Disposable {
    let box: InputBox | undefined;
    const questions = new Questions((question, typed) => (box = showBox(question, typed)));
    const status = vscode.window.createStatusBarItem("cellgate.input", vscode.StatusBarAlignment.Left, 13);
    status.name = "cellgate: code that asks";
    status.command = "cellgate.answerInput";
    status.backgroundColor = new vscode.ThemeColor("statusBarItem.warningBackground");
    const setContext = (key: string, value: boolean) => void vscode.commands.executeCommand("setContext", key, value);

    function show(): void {
        const unseen = questions.unseen();
        setContext("cellgate.reads", questions.isShown);
        setContext("cellgate.asks", unseen !== undefined);
        if (!unseen) {
            status.hide();
            return;
        }
        const { first, count } = unseen;
        const more = count === 1 ? "" : `, and ${count - 1} more`;
        status.text = `$(edit) ${label(first.where, 60)} waits for a line${more}`;
        status.tooltip = `${label(first.prompt.trim(), 300)}\nClick to answer. “End the Input of Code” is the end of it.`.trimStart();
        status.accessibilityInformation = { label: `cellgate: ${first.where} waits for a line${more}` };
        status.show();
    }

    return vscode.Disposable.from(
        questions,
        status,
        questions.onDidChange(show),
        // What another connection was asked, this one cannot answer.
        sidecar.onDidChangeState(({ kind }) => {
            if (kind !== "connected") questions.giveUp();
        }),
        sidecar.onRequest("input/request", async ({ executionId, prompt, password }, token) => {
            const cell = executions.get(executionId)?.cell;
            const where = cell ? `${documentName(cell.uri)}, line ${cell.line + 1}` : "a cell";
            return { value: await questions.ask({ where, prompt, password }, token) };
        }),
        vscode.commands.registerCommand("cellgate.answerInput", () => questions.resume()),
        vscode.commands.registerCommand("cellgate.endInput", async (by?: "key") => {
            if (questions.isShown) box?.endInput();
            // Something else has come up in the meantime, and Escape is for that.
            else if (by === "key") await vscode.commands.executeCommand("workbench.action.closeQuickOpen");
            else questions.endFirst();
        }),
    );
}
