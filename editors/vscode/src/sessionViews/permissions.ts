// `showPermissions` is one list of what the code of a session may do now. What the user chooses is changed.

import * as vscode from "vscode";
import type { Cellgate } from "../cellgate";
import { ask } from "../notices";
import { openSetting } from "../openSetting";
import { ruleText } from "../rules/labels";
import type { Session } from "../sessions";
import { chooseProfile } from "../sessionSettings/command";
import { label } from "../text";
import { permissionGroups, type Change, type PermissionRow } from "./permissionGroups";
import { changeLimit } from "./setLimits";

interface Item extends vscode.QuickPickItem {
    readonly change?: Change | undefined;
}

export async function showPermissions(cellgate: Cellgate, session: Session): Promise<void> {
    const { sidecar } = cellgate;
    const [rules, servers, secrets, { profiles }] = await Promise.all([
        sidecar.request("policy/list", {}),
        sidecar.request("toolServers/list", {}),
        sidecar.request("secret/list", {}),
        sidecar.request("runtimes", {}),
    ]);
    const workspace = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? session.cwd;
    const groups = permissionGroups({ session, workspace, rules: rules.rules, servers: servers.servers, secrets: secrets.secrets, profiles });
    const items = groups.flatMap(({ title, rows }): Item[] => [
        { label: title, kind: vscode.QuickPickItemKind.Separator },
        ...rows.map(itemOf),
    ]);
    const chosen = await vscode.window.showQuickPick<Item>(items, {
        title: `What the code of ${label(session.sessionId)} may do`,
        placeHolder: "Choose a line to change it",
        matchOnDescription: true,
    });
    if (chosen?.change !== undefined) await carryOut(cellgate, session, chosen.change);
}

const itemOf = ({ text, detail, change }: PermissionRow): Item => ({ label: text, description: detail, change });

async function carryOut(cellgate: Cellgate, session: Session, change: Change): Promise<void> {
    if (change === "profile") await chooseProfile(cellgate, session.sessionId);
    else if (change === "secrets") await vscode.commands.executeCommand("cellgate.listSecrets");
    else if (change === "toolServers") await vscode.commands.executeCommand("cellgate.toolServers.focus");
    else if ("beginning" in change) await vscode.commands.executeCommand("cellgate.addRule", change.beginning);
    else if ("setting" in change) await openSetting(change.setting);
    else if ("limit" in change) await changeLimit(cellgate, session, change.limit);
    else await removeRule(cellgate, session, change);
}

async function removeRule(cellgate: Cellgate, session: Session, { rule }: Extract<Change, { rule: unknown }>): Promise<void> {
    const remove = "Remove";
    if ((await ask(`Remove the rule “${rule.effect} ${label(ruleText(rule), 300)}”?`, undefined, remove)) !== remove) return;
    await cellgate.sidecar.request("policy/remove", { ruleId: rule.id });
    await showPermissions(cellgate, session);
}
