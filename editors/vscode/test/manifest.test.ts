// These tests check what package.json declares, where no compiler would find a mistake.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

interface Entry {
    command: string;
    when: string;
    group: string;
}
const { contributes } = JSON.parse(readFileSync("package.json", "utf8")) as {
    contributes: {
        commands: { command: string }[];
        configuration: { properties: Record<string, { scope: string }> };
        views: Record<string, { id: string; when?: string }[]>;
        viewsWelcome: { view: string; when?: string }[];
        walkthroughs: { steps: { description: string; completionEvents?: string[] }[] }[];
        menus: { commandPalette: Entry[]; "view/item/context": Entry[] };
    };
};

test("what a row offers to the mouse, it offers in its menu, which keys reach", () => {
    const entries = contributes.menus["view/item/context"];
    const isInline = ({ group }: Entry) => group.startsWith("inline");
    const inline = entries.filter(isInline);
    assert.ok(inline.length > 0);
    const missing = inline.filter(({ command, when }) => !entries.some((each) => !isInline(each) && each.command === command && each.when === when));
    assert.deepEqual(missing, []);
});

test("a folder's settings change what is shown, and nothing else", () => {
    const ofTheFolder = Object.entries(contributes.configuration.properties).filter(([, { scope }]) => scope !== "machine");
    assert.deepEqual(ofTheFolder.map(([name]) => name), ["cellgate.codeLens", "cellgate.check", "cellgate.results.openOnRun"]);
});

test("every command has a place in the palette, or is kept out of it", () => {
    const inPalette = contributes.menus.commandPalette.map(({ command }) => command);
    const missing = contributes.commands.filter(({ command }) => !inPalette.includes(command));
    assert.deepEqual(missing, []);
});

test("without a folder, a view is hidden or says how to open one", () => {
    const shown = Object.values(contributes.views).flat().filter(({ when }) => when !== "workspaceFolderCount > 0");
    const welcome = contributes.viewsWelcome.filter(({ when }) => when === "workspaceFolderCount == 0");
    assert.deepEqual(shown.map(({ id }) => id), welcome.map(({ view }) => view));
});

test("the walkthrough has no Markdown that the editor shows as it is, and no step is done by a look at it", () => {
    const steps = contributes.walkthroughs.flatMap((each) => each.steps);
    assert.ok(steps.length > 0);
    assert.deepEqual(steps.filter(({ description, completionEvents = [] }) => description.includes("`") || completionEvents.length === 0), []);
});
