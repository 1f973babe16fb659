// `chooseOnServer` is the choice of a kernel on a Jupyter server: its address, then one of its kernels. The sidecar asks
// for the token by itself, and keeps it; no setting and no memory of the editor has it.

import * as vscode from "vscode";
import type { Sidecar } from "../client/sidecar";
import type { KernelChoice } from "../protocol/messages";
import { showError } from "../notices";
import { label } from "../text";

/** Undefined: the user left it, or the server lists no kernels, which is shown. */
export async function chooseOnServer(sidecar: Sidecar): Promise<KernelChoice | undefined> {
    const typed = await vscode.window.showInputBox({
        title: "The address of a Jupyter server",
        prompt: "Without its token, which you are asked for if the server wants one. Code there runs without cellgate's sandbox.",
        value: vscode.workspace.getConfiguration("cellgate").get<string>("jupyterServer", ""),
        placeHolder: "https://hub.example.org/user/me",
        ignoreFocusOut: true,
        validateInput: (text) => (/^https?:\/\/[^\s?#@]+$/.test(text.trim()) ? undefined : "expected http(s)://HOST/PATH, without a token"),
    });
    if (typed === undefined) return undefined;
    const url = typed.trim();
    try {
        const { kernels } = await sidecar.request("kernel/list", { server: { url } });
        const items = kernels.map(({ name, displayName, language }) => ({
            label: label(displayName),
            description: label(`${name}, ${language}`),
            name,
        }));
        const chosen = await vscode.window.showQuickPick(items, { title: `A kernel of ${label(url)}` });
        return chosen && { server: { url, name: chosen.name } };
    } catch (error) {
        showError(error);
        return undefined;
    }
}
