// These scenarios try completion, hover and variables from the running kernel.
import { scenario } from "./driver/scenario.mjs";
import { until } from "./driver/wait.mjs";

const files = {
    "live.py": "# %%\nclass Lamp:\n    '''Shines ``` [x](command:y).'''\n    brightness_only_known_live = 3\nlamp = Lamp()\nnumbers = list(range(5))\n\n# %%\nlamp\n",
};

scenario("completion, hover and variables come from the kernel when it has nothing to do", { files }, async ({ editor }) => {
    const { page } = editor;
    await editor.openFile("live.py");
    // The editor makes no lenses for a text that has lost the focus.
    await editor.lens("Run Cell").first().waitFor();
    await page.locator(".activitybar .action-label[aria-label^='cellgate']").click();
    await page.locator(".pane-header", { hasText: "Variables" }).click();
    await editor.lens("Run Cell").first().click();
    await editor.lens(/\[1\]/).waitFor();
    await page.locator(".monaco-list-row", { hasText: /^numbers ?list 5 +\[0, 1, 2, 3, 4\]$/ }).waitFor();

    await editor.openFile("live.py");
    await editor.goToLine(9);
    await page.keyboard.press("End");
    await editor.statusItem("Ln 9, Col 5").waitFor();
    await page.keyboard.type(".");
    const suggestion = page.locator(".suggest-widget .monaco-list-row", { hasText: "brightness_only_known_live" });
    await suggestion.waitFor();
    await editor.screenshot("completion");
    await suggestion.click();
    const text = () => page.locator(".editor-group-container").first().locator(".view-lines").innerText();
    await until(async () => (await text()).includes("lamp.brightness_only_known_live"), async () => `the completed line; there is ${await text()}`);

    await editor.goToLine(5);
    await page.keyboard.press("Control+K");
    await page.keyboard.press("Control+I");
    const hover = page.locator(".monaco-hover", { hasText: "Shines ``` [x](command:y)." });
    await hover.waitFor();
    await editor.screenshot("hover");
});
