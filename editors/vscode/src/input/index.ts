// Code that reads from standard input is answered in an input box. Escape, or a run that ended meanwhile, is the end of
// the file to the code.

import * as vscode from "vscode";
import type { Cellgate } from "../cellgate";
import { label } from "../text";

export function input({ sidecar, executions }: Cellgate): { dispose(): void } {
    return sidecar.onRequest("input/request", async ({ executionId, prompt, password }, token) => {
        const cell = executions.get(executionId)?.cell;
        const where = cell ? `${vscode.workspace.asRelativePath(vscode.Uri.parse(cell.uri))}, line ${cell.line + 1}` : "a cell";
        const value = await vscode.window.showInputBox(
            {
                title: label(`The code of ${where} asks`),
                prompt: prompt.trim() ? label(prompt.trim(), 1000) : undefined,
                password,
                ignoreFocusOut: true,
            },
            token,
        );
        if (value === undefined) throw new Error("nobody typed anything");
        return { value };
    });
}
