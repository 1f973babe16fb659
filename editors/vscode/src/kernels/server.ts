// `chooseOnServer` is the choice of a kernel on a Jupyter server: its address, then one of its kernels. The sidecar asks
// for the token by itself, and keeps it; no setting and no memory of the editor has it.

import * as vscode from "vscode";
import { hintOf } from "../client/errors";
import type { Sidecar } from "../client/sidecar";
import type { KernelInfo } from "../protocol/messages";
import { label } from "../text";
import { hostOf, type KernelElsewhere } from "./elsewhere";

/** Undefined: the user left it. `offered`: the address that is there to be changed. `runs`: whether a language is wanted. */
export async function chooseOnServer(
    sidecar: Sidecar,
    offered: string,
    runs: (language: string) => boolean,
): Promise<KernelElsewhere | undefined> {
    const found = await askForServer(sidecar, offered);
    if (!found) return undefined;
    const { url } = found;
    const kernels = found.kernels.filter(({ language }) => runs(language));
    const items = kernels.map(({ name, displayName, language }) => ({
        label: label(displayName),
        description: label(`${name}, ${language}`),
        chosen: { name: `${displayName} on ${hostOf(url)}`, language, kernel: { server: { url, name } } },
    }));
    return (await vscode.window.showQuickPick(items, { title: `A kernel of ${label(url)}` }))?.chosen;
}

const addressPattern = /^https?:\/\/[^\s?#@]+$/;
const prompt = "Without its token, which you are asked for if the server wants one. Code there runs without cellgate's sandbox.";

/** The address of a server, with its kernels. Until it lists them, the box stays, with what was typed and what is wrong. */
function askForServer(sidecar: Sidecar, offered: string): Promise<{ url: string; kernels: KernelInfo[] } | undefined> {
    const box = vscode.window.createInputBox();
    const left = new vscode.CancellationTokenSource();
    Object.assign(box, { title: "The address of a Jupyter server", prompt, value: offered, placeholder: "https://hub.example.org/user/me" });
    box.ignoreFocusOut = true;

    async function ask(url: string): Promise<KernelInfo[] | undefined> {
        Object.assign(box, { busy: true, enabled: false, prompt: "Asking the server. If it wants a token, type that, or ${secret:NAME}, in the view Approvals." });
        try {
            return (await sidecar.request("kernel/list", { server: { url } }, left.token)).kernels;
        } catch (error) {
            const message = error instanceof Error ? error.message : String(error);
            Object.assign(box, { busy: false, enabled: true, prompt, validationMessage: label(`${message}. ${hintOf(error)}`, 600) });
            return undefined;
        }
    }

    return new Promise((resolve) => {
        box.onDidChangeValue(() => (box.validationMessage = undefined));
        box.onDidAccept(async () => {
            const url = box.value.trim();
            if (!addressPattern.test(url)) {
                box.validationMessage = "expected http(s)://HOST/PATH, without a token";
                return;
            }
            const kernels = await ask(url);
            if (!kernels) return;
            resolve({ url, kernels });
            box.hide();
        });
        box.onDidHide(() => {
            resolve(undefined);
            left.cancel();
            box.dispose();
        });
        box.show();
    });
}
