// The interpreter that a person chose in the Python extension, if that is there.

import * as vscode from "vscode";
import type { KernelChoice } from "../protocol/messages";

/** Of the Python extension's API, what is used here. */
interface PythonApi {
    environments?: {
        getActiveEnvironmentPath(resource?: vscode.Uri): { path: string };
        resolveEnvironment(environment: { path: string }): Promise<{ executable: { uri?: vscode.Uri } } | undefined>;
    };
}

export async function pythonExtensionInterpreter(uri: vscode.Uri): Promise<KernelChoice | undefined> {
    const extension = vscode.extensions.getExtension<PythonApi>("ms-python.python");
    const { environments } = (await extension?.activate()) ?? {};
    if (!environments) return undefined;
    const active = environments.getActiveEnvironmentPath(uri);
    const interpreter = (await environments.resolveEnvironment(active))?.executable.uri?.fsPath;
    return interpreter ? { interpreter } : undefined;
}
