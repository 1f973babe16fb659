// `secrets` registers the commands that add, list and delete the secrets that tool servers get. A value is typed unseen,
// sent, and kept nowhere here.

import * as vscode from "vscode";
import { active } from "../active";
import type { Cellgate } from "../cellgate";
import { ask, inform, showError } from "../notices";
import type { SecretInfo } from "../protocol/messages";
import { isName, originOf, scopeChoices, useOf, variableOf } from "./labels";

interface Item extends vscode.QuickPickItem {
    readonly secret?: SecretInfo;
}

export function secrets({ sidecar, sessions, documents }: Cellgate): vscode.Disposable {
    async function add(): Promise<void> {
        const working = active({ documents });
        const here = working && sessions.get(working.sessionId)?.sessionId;
        const name = await vscode.window.showInputBox({
            title: "Add Secret: its name",
            placeHolder: "GITHUB_TOKEN",
            prompt: "Configurations of tool servers name it as ${secret:NAME}",
            validateInput: (text) => (text === "" || isName(text) ? undefined : "Letters, digits and _, of which the first is no digit"),
        });
        if (!name) return;
        const chosen = await vscode.window.showQuickPick(scopeChoices(here), { title: `Where does ${name} hold?` });
        if (!chosen) return;
        const { scope, sessionId } = chosen;
        const value = await vscode.window.showInputBox({ title: `Add Secret: the value of ${name}`, password: true, ignoreFocusOut: true });
        if (!value) return;
        await sidecar.request("secret/set", { name, scope, sessionId, value });
        const user = scope === "session" ? "A request of the session gets it where a rule" : "A tool server gets it where its configuration";
        void inform(`Kept. ${user} says ${variableOf(name)}.`);
    }

    async function remove({ name, scope, sessionId }: SecretInfo): Promise<void> {
        const action = "Delete";
        const detail = "Tool servers that run keep it until they end.";
        if ((await ask(`Delete the secret ${name}?`, detail, action)) === action) await sidecar.request("secret/delete", { name, scope, sessionId });
    }

    async function list(): Promise<void> {
        const found = await sidecar.request("secret/list", {});
        const items: Item[] = found.secrets.map((secret) => ({
            label: `$(lock) ${secret.name}`,
            description: originOf(secret),
            detail: useOf(secret),
            secret,
        }));
        const chosen = await vscode.window.showQuickPick([...items, { label: "$(add) Add Secret…" }], {
            title: "Secrets of Tool Servers",
            placeHolder: "Choose one to delete it",
        });
        if (chosen) await (chosen.secret ? remove(chosen.secret) : add());
    }

    return vscode.Disposable.from(
        vscode.commands.registerCommand("cellgate.addSecret", () => add().catch(showError)),
        vscode.commands.registerCommand("cellgate.listSecrets", () => list().catch(showError)),
    );
}
