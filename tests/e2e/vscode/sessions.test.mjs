// Which kernel a file's cells run in, and what stands in its way.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { beside } from "./driver/extensions.mjs";
import { cellgateProgram } from "./driver/place.mjs";
import { scenario } from "./driver/scenario.mjs";
import { until } from "./driver/wait.mjs";

const files = {
    "one.py": "# %%\nx = 'of one'\n",
    "two.py": "# %%\nopen('seen', 'w').write(globals().get('x', 'nothing'))\n",
};

scenario("a file has a session of its own, until it is attached to another", { files }, async ({ place, editor }) => {
    await editor.openFile("one.py");
    await editor.lens("Run Cell").click();
    await editor.lens(/\[1\]/).waitFor();
    await editor.openFile("two.py");
    await editor.lens("Run Cell").click();
    await editor.lens(/\[1\]/).waitFor();
    assert.equal(await place.read("seen"), "nothing");
    await editor.command("cellgate: Attach File to Session…");
    const row = editor.page.locator(".quick-input-list .monaco-list-row", { hasText: /^one\.py-/ });
    await row.getByText("you, idle").waitFor();
    await row.click();
    await editor.statusItem(/one\.py-\w+ · idle/).waitFor();
    await editor.lens("Run Cell").click();
    await editor.lens(/\[2\]/).waitFor();
    assert.equal(await place.read("seen"), "of one");
});

scenario("a settings file of the person's says what new sessions see", {
    settings: (place) => ({ "cellgate.sandboxConfig": path.join(place.root, "sandbox.json") }),
    prepare: async (place) => {
        const data = path.join(place.root, "data.csv");
        await writeFile(data, "first,second");
        await place.write("look.py", `# %%\nopen('seen', 'w').write(open(${JSON.stringify(data)}).read())\n`);
        const filesystem = { denyRead: [], allowRead: [data], allowWrite: ["."], denyWrite: [] };
        await writeFile(path.join(place.root, "sandbox.json"), JSON.stringify({ filesystem, network: { allowedDomains: [], deniedDomains: [] } }));
    },
}, async ({ place, editor }) => {
    await editor.openFile("look.py");
    await editor.lens("Run Cell").click();
    await editor.lens(/\[1\]/).waitFor();
    assert.equal(await place.read("seen"), "first,second");
});

scenario("the interpreter that was chosen in the Python extension is used", {
    files: { "which.py": "# %%\nimport sys\nopen('which', 'w').write(sys.prefix)\n" },
    ...beside("python"),
    environment: (place) => {
        const venv = path.join(place.root, "venv");
        execFileSync("/usr/bin/python3", ["-m", "venv", "--without-pip", "--system-site-packages", venv]);
        return { CHOSEN_PYTHON: path.join(venv, "bin/python") };
    },
}, async ({ place, editor }) => {
    await editor.openFile("which.py");
    await editor.lens("Run Cell").click();
    await editor.lens(/\[1\]/).waitFor();
    assert.equal(await place.read("which"), path.join(place.root, "venv"));
});

// A Python that has no ipykernel, and a pip that "installs" the system's.
async function bareVenv(place) {
    const venv = path.join(place.root, "venv");
    execFileSync("/usr/bin/python3", ["-m", "venv", "--without-pip", venv]);
    const site = execFileSync(path.join(venv, "bin/python"), ["-c", "import site; print(site.getsitepackages()[0])"]);
    const pip = path.join(site.toString().trim(), "pip");
    await mkdir(pip);
    await writeFile(path.join(pip, "__main__.py"), [
        "import os, sys, site",
        "open(os.path.join(site.getsitepackages()[0], 'system.pth'), 'w').write('/usr/lib/python3/dist-packages')",
        "print('fake pip:', sys.argv[1:])",
    ].join("\n"));
}

const prepare = bareVenv;
const environment = (place) => ({ VIRTUAL_ENV: path.join(place.root, "venv") });

scenario("an interpreter without ipykernel: the command that installs it is shown, and runs where it is seen", {
    files, prepare, environment,
}, async ({ editor }) => {
    await editor.openFile("one.py");
    await editor.lens("Run Cell").click();
    const dialog = editor.dialog("expected ipykernel in the interpreter");
    await dialog.getByText(/venv\/bin\/python\S* -m pip install ipykernel/).waitFor();
    await editor.screenshot("offer");
    await dialog.locator(".monaco-button", { hasText: "Install in a Terminal" }).click();
    await editor.lens(/\[1\]/).waitFor();
    await editor.screenshot("installed");
});

scenario("an interpreter without ipykernel: another one can be chosen", { files, prepare, environment }, async ({ editor }) => {
    await editor.openFile("one.py");
    await editor.lens("Run Cell").click();
    await editor.dialog("expected ipykernel").locator(".monaco-button", { hasText: "Select Another Interpreter" }).click();
    await editor.page.locator(".quick-input-list .monaco-list-row", { hasText: "/usr/bin/python3" }).first().click();
    await editor.lens(/\[1\]/).waitFor();
});

scenario("an offer that is not taken starts nothing, and the cell says why", { files, prepare, environment }, async ({ editor }) => {
    await editor.openFile("one.py");
    await editor.lens("Run Cell").click();
    await editor.dialog("expected ipykernel").locator(".monaco-button", { hasText: "Cancel" }).click();
    await editor.lens("did not run: expected ipykernel").waitFor();
});

// The program as it is, on a machine that has no bubblewrap.
async function withoutBubblewrap(place) {
    const program = path.join(place.root, "cellgate");
    const script = `mount --bind /dev/null /usr/bin/bwrap && exec "${cellgateProgram()}" "$@"`;
    await writeFile(program, `#!/bin/sh\nexec unshare --map-root-user --mount sh -c '${script}' sh "$@"\n`);
    await chmod(program, 0o755);
    // Where the editor and the person are on different machines, the settings of the editor's own count.
    const settings = path.join(place.root, "user-data/Machine/settings.json");
    await mkdir(path.dirname(settings), { recursive: true });
    await writeFile(settings, JSON.stringify({ "cellgate.program": program }));
}

scenario("a machine that refuses the sandbox: the fix is shown, and nothing runs without a person's choice", {
    files,
    prepare: withoutBubblewrap,
}, async ({ place, editor }) => {
    await editor.openFile("two.py");
    await editor.lens("Run Cell").click();
    const dialog = editor.dialog("the sandbox needs bubblewrap");
    await dialog.getByText("apt install bubblewrap").waitFor();
    await editor.screenshot("offer");
    await dialog.locator(".monaco-button", { hasText: "Cancel" }).click();
    await editor.lens("did not run: the sandbox needs bubblewrap").waitFor();
    assert.equal(place.has("seen"), false);
    await editor.lens("Run Cell").click();
    await dialog.locator(".monaco-button", { hasText: "Run Unsandboxed in This Session" }).click();
    await editor.lens(/\[1\]/).waitFor();
    await editor.statusItem("unsandboxed").waitFor();
    await until(() => place.has("seen"), "the file that the cell writes");
    await editor.screenshot("unsandboxed");
});

scenario("a machine that refuses the sandbox: a person may choose the weaker one, and is told of it", {
    files: { "try.py": "# %%\ntry:\n    open('/etc/cellgate-was-here', 'w')\nexcept OSError as error:\n    print(error)\nopen('seen', 'w')\n" },
    prepare: withoutBubblewrap,
}, async ({ place, editor }) => {
    await editor.openFile("try.py");
    await editor.lens("Run Cell").click();
    await editor
        .dialog("the sandbox needs bubblewrap")
        .locator(".monaco-button", { hasText: "Weaker Sandbox in This Session" })
        .click();
    await editor.lens(/\[1\]/).waitFor();
    await editor.statusItem("weaker sandbox").waitFor();
    await until(() => place.has("seen"), "the file that the cell writes");
    assert.equal(existsSync("/etc/cellgate-was-here"), false);
    await editor.screenshot("weaker");
});
