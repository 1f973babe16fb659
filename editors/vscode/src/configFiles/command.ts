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
        placeHolder: configuration.problem === undefined ? "Choose one to open it" : label(configuration.problem),
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
        ...(values.length > 0 ? [separator("Set by config.toml and the Environment")] : []),
        ...values.map(valueItem),
    ];
}

const nameOf = (path: string) => path.slice(path.lastIndexOf("/") + 1);

const fileItem = (file: ConfigFile): Item => ({
    label: label(nameOf(file.path)),
    description: label(`${file.what}${file.exists ? "" : ", not there yet"}`),
    detail: label(file.path),
    open: () => openFile(file),
});

function valueItem(value: ConfigValue): Item {
    const place = placeOf(value);
    const shown = { label: label(value.name), description: label(value.values.join(", ")), detail: label(value.from) };
    return place ? { ...shown, open: () => show(vscode.Uri.file(place.path), place.line) } : shown;
}

async function openFile({ path, exists }: ConfigFile): Promise<void> {
    const uri = vscode.Uri.file(path);
    const skeleton = skeletonOf(path);
    if (skeleton === undefined) await openOneOf(uri);
    else if (exists) await show(uri);
    else await create(uri, skeleton);
}

/** Of the rules that are kept: a file for each workspace, and user.json for all. */
async function openOneOf(folder: vscode.Uri): Promise<void> {
    const found = await Promise.resolve(vscode.workspace.fs.readDirectory(folder)).catch(() => []);
    const files = found.filter(([name, type]) => type === vscode.FileType.File && name.endsWith(".json"));
    const items = await Promise.all(files.map(async ([name]): Promise<Item> => {
        const uri = vscode.Uri.joinPath(folder, name);
        const about = name === "user.json" ? "all workspaces" : await aboutOf(uri);
        return { label: label(about), description: label(name), open: () => show(uri) };
    }));
    if (items.length === 0) return void inform("cellgate: no rule is kept yet. “Add Rule…” makes one.");
    const chosen = await vscode.window.showQuickPick(items, { title: "The rules that are kept for…", matchOnDescription: true });
    await chosen?.open?.();
}

async function aboutOf(uri: vscode.Uri): Promise<string> {
    try {
        const { about } = JSON.parse(new TextDecoder().decode(await vscode.workspace.fs.readFile(uri))) as { about?: unknown };
        return typeof about === "string" ? about : "another workspace";
    } catch {
        return "a file that cannot be read";
    }
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
