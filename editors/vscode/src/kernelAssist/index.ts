// `kernelAssist` registers what the running kernel contributes to editing: completion, hover, variables.

import * as vscode from "vscode";
import type { Cellgate } from "../cellgate";
import { showError } from "../notices";
import type { KernelVariable } from "../protocol/messages";
import { completion } from "./completion";
import { copyVariable } from "./copyVariable";
import { Variables } from "./variables";

export function kernelAssist(cellgate: Cellgate): vscode.Disposable {
    const variables = new Variables(cellgate);
    return vscode.Disposable.from(
        completion(cellgate),
        variables,
        // A row of the view names the variable.
        vscode.commands.registerCommand("cellgate.copyVariable", async (row?: KernelVariable) => {
            await copyVariable(cellgate, row && variables.sessionId, row).catch(showError);
        }),
    );
}
