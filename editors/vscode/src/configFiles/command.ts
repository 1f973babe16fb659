// `openConfigFile` lists cellgate's own configuration files with what they set, and opens the one that the user chooses. One
// that is not there opens as an untitled document at its path: it is made when the user saves it.

import * as vscode from "vscode";
import type { Cellgate } from "../cellgate";
import { inform } from "../notices";
import { label } from "../text";
import { placeOf, programRunner, readConfiguration, skeletonOf, type ConfigFile, type Configuration, type ConfigValue } from "./configuration";

interface Item extends vscode.QuickPickItem {
    open?(): Promise<void>;
}

/** `name`: opens the file of this name without asking, such as profiles.json. */
export async function openConfigFile({ program }: Pick<Cellgate, "program">, name?: string): Promise<void> {
    const configuration = await readConfiguration(programRunner(program()));
    const named = configuration.files.find(({ path }) => name !== undefined && path.endsWith(`/${name}`));
    if (named) return openFile(named);
    const chosen = await vscode.window.showQuickPick<Item>(itemsOf(configuration), {
        title: "cellgate's configuration files, and what is set",
        placeHolder: "Choose one to open it",
        matchOnDescription: true,
        matchOnDetail: true,
    });
    await chosen?.open?.();
}

const separator = (text: string): Item => ({ label: text, kind: vscode.QuickPickItemKind.Separator });

function itemsOf({ files, values }: Configuration): Item[] {
    return [
        separator("Files"),
        ...files.map(fileItem),
        ...(values.length > 0 ? [separator("Set")] : []),
        ...values.map(valueItem),
    ];
}

const nameOf = (path: string) => path.slice(path.lastIndexOf("/") + 1);

const fileItem = (file: ConfigFile): Item => ({
    ...titled(nameOf(file.path), file),
    description: label(`${file.what}${file.exists ? "" : " · not there yet"}`),
    detail: label(file.wrong ?? file.path, 500),
    open: () => openFile(file),
});

function valueItem(value: ConfigValue): Item {
    const place = placeOf(value);
    const { values, from, wrong } = value;
    const shown = { ...titled(value.name, value), description: label(values.join(", ")), detail: label(wrong === undefined ? from : `${from}: ${wrong}`, 500) };
    return place ? { ...shown, open: () => show(vscode.Uri.file(place.path), place.line) } : shown;
}

const titled = (name: string, { wrong }: { readonly wrong?: string }) => ({
    label: label(name),
    ...(wrong === undefined ? {} : { iconPath: new vscode.ThemeIcon("warning") }),
});

async function openFile({ path, exists }: ConfigFile): Promise<void> {
    const uri = vscode.Uri.file(path);
    const skeleton = skeletonOf(path);
    if (exists) await show(uri);
    else if (skeleton !== undefined) await create(uri, skeleton);
    else void inform("cellgate: no rule is kept for all workspaces yet. “Add Rule…” makes one.");
}

async function show(uri: vscode.Uri, line?: number): Promise<void> {
    const selection = line === undefined ? {} : { selection: new vscode.Range(line, 0, line, 0) };
    await vscode.window.showTextDocument(uri, { preview: false, ...selection });
}

async function create(uri: vscode.Uri, skeleton: string): Promise<void> {
    const document = await vscode.workspace.openTextDocument(uri.with({ scheme: "untitled" }));
    const editor = await vscode.window.showTextDocument(document, { preview: false });
    if (document.getText() === "") await editor.edit((edit) => edit.insert(new vscode.Position(0, 0), skeleton));
}
