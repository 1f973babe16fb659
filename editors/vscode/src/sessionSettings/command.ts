// `editSessionSettings` shows what holds for the session of the active file or notebook, and changes it: limits at once, the
// folder, the variables and the profile with a new kernel.

import * as vscode from "vscode";
import { active } from "../active";
import type { Cellgate } from "../cellgate";
import { ask, inform } from "../notices";
import type { Session } from "../sessions";
import { changeLimit } from "../sessionViews/setLimits";
import { limitNames, limitOf } from "../sessionViews/limitNames";
import { label } from "../text";
import { profileText } from "./profiles";
import { parseVariables, variablesText, type Chosen, type CreateParams } from "./values";

type Item = vscode.QuickPickItem & { change(): Promise<void> };

export async function editSessionSettings(cellgate: Cellgate): Promise<void> {
    const sessionId = active(cellgate)?.sessionId;
    if (sessionId === undefined) return;
    const session = cellgate.sessions.get(sessionId);
    const next = cellgate.sessionSettings.createParams(sessionId);
    const items = session ? [...limitItems(cellgate, session), separator("With a new kernel")] : [separator("For the kernel that the first cell starts")];
    const chosen = await vscode.window.showQuickPick<vscode.QuickPickItem | Item>([...items, ...creationItems(cellgate, sessionId, session, next)], {
        title: `The settings of ${label(sessionId)}`,
    });
    if (chosen && "change" in chosen) await chosen.change();
}

const separator = (text: string): vscode.QuickPickItem => ({ label: text, kind: vscode.QuickPickItemKind.Separator });

function limitItems({ sessions }: Cellgate, session: Session): (vscode.QuickPickItem | Item)[] {
    return [
        separator("At once"),
        ...limitNames.map((limit): Item => ({
            label: limit.title,
            description: limitOf(limit, session),
            change: () => changeLimit({ sessions }, session, limit),
        })),
    ];
}

function creationItems(cellgate: Cellgate, sessionId: string, session: Session | undefined, next: CreateParams): Item[] {
    const edit = (title: string, value: string, parse: (typed: string) => Chosen | undefined) => async () => {
        const typed = await vscode.window.showInputBox({
            title: `${title} of ${label(sessionId)}`,
            value,
            validateInput: (text) => (parse(text) ? undefined : "Expected NAME=value, and more of these behind a blank"),
        });
        const change = typed === undefined ? undefined : parse(typed);
        if (change) await apply(cellgate, sessionId, change);
    };
    const cwd = next.cwd ?? "";
    const env = variablesText(next.env ?? {});
    return [
        { label: "Profile", description: label((session ?? next).profile ?? "none"), change: () => chooseProfile(cellgate, sessionId) },
        { label: "Folder", description: label(session?.cwd ?? (cwd || "the workspace")), change: edit("Folder", cwd, (text) => ({ cwd: text.trim() })) },
        {
            label: "Environment Variables",
            description: label(Object.keys(next.env ?? {}).join(", ") || "none"),
            change: edit("Environment variables", env, (text) => {
                const variables = parseVariables(text);
                return variables && { env: variables };
            }),
        },
    ];
}

/** Of those that there are, each with what it gives. */
export async function chooseProfile(cellgate: Cellgate, sessionId: string): Promise<void> {
    const { profiles } = await cellgate.sidecar.request("runtimes", {});
    const choose = (profile: string) => () => apply(cellgate, sessionId, { profile });
    const items: Item[] = [
        { label: "None", description: "", change: choose("") },
        ...profiles.map((profile) => ({ label: label(profile.name), description: label(profile.description), detail: profileText(profile), change: choose(profile.name) })),
        {
            label: "$(edit) Open profiles.json",
            description: "where your own are",
            change: async () => {
                await vscode.commands.executeCommand("cellgate.openConfigFile", "profiles.json");
            },
        },
    ];
    const chosen = await vscode.window.showQuickPick(items, { title: `Profile of ${label(sessionId)}`, matchOnDescription: true });
    await chosen?.change();
}

/** A kernel that runs goes on as it is, unless the user gives it up. */
async function apply({ sessions, sessionSettings }: Cellgate, sessionId: string, change: Chosen): Promise<void> {
    if (!sessions.get(sessionId)) {
        await sessionSettings.choose(sessionId, change);
        void inform(`${label(sessionId)} has this once its first cell runs.`);
        return;
    }
    const answer = await ask(
        `Close the session ${label(sessionId)}?`,
        "This holds for a new kernel alone. The one that runs ends, and its variables are gone; the next cell starts the new one.",
        "Close Session",
    );
    if (answer === undefined) return;
    await sessionSettings.choose(sessionId, change);
    await sessions.close(sessionId);
}
