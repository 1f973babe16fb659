// `PythonExtension` reads the interpreter that the user chose in the Python extension, if that is installed.

import * as vscode from "vscode";

/** Of the Python extension's API, what is used here. */
interface PythonApi {
    environments?: {
        getActiveEnvironmentPath(resource?: vscode.Uri): { path: string };
        resolveEnvironment(environment: { path: string }): Promise<{ executable: { uri?: vscode.Uri } } | undefined>;
        onDidChangeActiveEnvironmentPath?: vscode.Event<unknown>;
    };
}

export class PythonExtension implements vscode.Disposable {
    private readonly changed = new vscode.EventEmitter<void>();
    /** Another interpreter may have been chosen. Heard of once the extension was asked for one. */
    readonly onDidChange = this.changed.event;
    private listening: vscode.Disposable | undefined;

    dispose(): void {
        this.listening?.dispose();
        this.changed.dispose();
    }

    async interpreterFor(uri: vscode.Uri): Promise<string | undefined> {
        const extension = vscode.extensions.getExtension<PythonApi>("ms-python.python");
        const { environments } = (await extension?.activate()) ?? {};
        if (!environments) return undefined;
        this.listening ??= environments.onDidChangeActiveEnvironmentPath?.(() => this.changed.fire());
        const active = environments.getActiveEnvironmentPath(uri);
        return (await environments.resolveEnvironment(active))?.executable.uri?.fsPath;
    }
}
