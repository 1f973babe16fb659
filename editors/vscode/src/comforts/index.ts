// What the live kernel can tell while a person writes: completion, hover, variables.

import * as vscode from "vscode";
import type { Cellgate } from "../cellgate";
import { completion } from "./completion";
import { Variables } from "./variables";

export function comforts(cellgate: Cellgate): vscode.Disposable {
    return vscode.Disposable.from(completion(cellgate), new Variables(cellgate));
}
