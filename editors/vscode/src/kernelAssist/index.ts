// `kernelAssist` registers what the running kernel contributes to editing: completion, hover, variables.

import * as vscode from "vscode";
import type { Cellgate } from "../cellgate";
import { completion } from "./completion";
import { Variables } from "./variables";

export function kernelAssist(cellgate: Cellgate): vscode.Disposable {
    return vscode.Disposable.from(completion(cellgate), new Variables(cellgate));
}
