// These scenarios try kernels that cellgate does not start in its usual sandbox: on a Jupyter server, in gVisor, in a
// container's image, and one that already runs.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { setTimeout } from "node:timers/promises";
import { Approvals } from "./driver/approvals.mjs";
import { sharedJupyterServer } from "./driver/jupyterServer.mjs";
import { notebookOf } from "./driver/notebooks.mjs";
import { scenario } from "./driver/scenario.mjs";
import { until } from "./driver/wait.mjs";

const cuts = Number(process.env.CELLGATE_CUTS ?? 10);
const lines = 250;
const pause = cuts / 2 / lines; // seconds: half a second for each cut
// The last cell runs until it is interrupted.
const cells = `# %%
import os
print("runs in", os.getcwd(), os.uname().version, os.path.exists("/etc/debian_version"))

# %%
from mcptools.host import write_file
_ = write_file.run(path="made.txt", content="from afar")

# %%
import struct, zlib
from IPython.display import Image
def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
rows = (b"\\0" + bytes([80, 80, 160]) * 120) * 60
png = b"\\x89PNG\\r\\n\\x1a\\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 120, 60, 8, 2, 0, 0, 0))
Image(png + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))

# %%
import time
for number in range(${lines}): print("line", number, flush=True); time.sleep(${pause})
while True: time.sleep(0.02)
`;

/** Runs the first three cells; `where`: what the first one prints. */
async function runCells(workspace, editor, where) {
    await editor.lens("Run Cell").first().click();
    await editor.lens(/\[1\] [\d.]+ m?s/).waitFor();
    await editor.frame(`text=${where}`);
    await editor.goToLine(6);
    await editor.page.keyboard.press("Control+Enter");
    const approvals = await Approvals.of(editor);
    await approvals.block('_ = write_file.run(path="made.txt", content="from afar")').waitFor();
    await approvals.block("plan.py:7").waitFor();
    assert.equal(workspace.has("made.txt"), false);
    await editor.screenshot("call");
    await approvals.press(approvals.allow("this call"));
    await editor.lens(/\[2\] [\d.]+ m?s/).waitFor();
    assert.equal(await workspace.read("made.txt"), "from afar");
    await editor.goToLine(10);
    await editor.page.keyboard.press("Control+Enter");
    const picture = (await editor.frame("img")).locator("img").first();
    await until(async () => (await picture.evaluate((img) => img.naturalWidth)) === 120, "the picture");
}

const generated = (workspace) => workspace.cellgate("generate", "host");
const input = (editor) => editor.page.locator(".quick-input-widget input.input");

/** From the pick of kernels, as a user who has its token. */
async function chooseOnServer(editor, url) {
    await editor.choose("Jupyter server…");
    await editor.page.locator(".quick-input-widget", { hasText: "The address of a Jupyter server" }).waitFor();
    await input(editor).fill(url);
    await input(editor).press("Enter");
}

async function sendToken(editor, token) {
    const frame = await editor.frame("input[type=password]", "the question about the token");
    const block = frame.locator(".block:not(.decided)", { hasText: "Jupyter server" });
    const field = await block.locator("input[type=password]").elementHandle();
    await field.fill(token);
    const approvals = new Approvals(editor, frame);
    await approvals.press(block.getByRole("button", { name: "Send" }));
    await field.waitForElementState("hidden"); // the next question has another one
}

scenario("kernel_on_a_server: what runs there is asked about here, and goes on over a cut", {
    files: { "plan.py": cells }, prepare: generated,
}, async ({ workspace, editor }) => {
    const server = await sharedJupyterServer();
    await editor.openFile("plan.py");
    await editor.lens("Run Cell").first().waitFor();
    await editor.command("cellgate: Select Kernel…");
    await chooseOnServer(editor, "http://127.0.0.1:1");
    // What is wrong is said where it was typed, and can be corrected there.
    await editor.page.locator(".quick-input-message", { hasText: "cannot reach 127.0.0.1" }).waitFor();
    await editor.screenshot("unreachable");
    await input(editor).fill(server.url);
    await input(editor).press("Enter");
    // Who leaves it is not asked any more.
    const { frame } = await Approvals.of(editor);
    await frame.locator("input[type=password]").waitFor();
    await editor.page.keyboard.press("Escape");
    await frame.locator("p.empty").waitFor();
    await editor.command("cellgate: Select Kernel…");
    await chooseOnServer(editor, server.url);
    await sendToken(editor, "a wrong one");
    await sendToken(editor, server.token);
    await editor.choose(/^Python 3/);
    const host = server.url.replace("http://", "");
    await editor.notification(`The next session has Python 3 (ipykernel) on ${host}.`).waitFor();
    await editor.openFile("plan.py");
    await runCells(workspace, editor, `runs in ${server.home}`);
    await editor.statusItem(`on ${host}`).waitFor();
    await editor.screenshot("there");
    await editor.goToLine(19);
    await editor.page.keyboard.press("Control+Enter");
    await editor.frame("text=line 0");
    await server.cut();
    const results = await editor.frame("text=was cut and made again");
    for (let cut = 1; cut < cuts; ++cut) {
        await setTimeout(((cut * 7919) % 1000) * 0.8); // pauses without an order, the same in each run
        await server.cut();
    }
    await results.locator(`text=line ${lines - 1}`).first().waitFor();
    await editor.screenshot("cut");
    const shown = await results.locator("body").innerText();
    const counted = [...shown.matchAll(/^line (\d+)$/gm)].map(([, number]) => Number(number));
    assert.deepEqual(counted, [...new Set(counted)].sort((one, other) => one - other), "nothing twice, all in order");
    // What is lost is announced.
    if (!shown.includes("may be lost")) assert.equal(counted.length, lines);
    await editor.command("cellgate: Interrupt");
    await editor.lens(/\[4\] (interrupted|KeyboardInterrupt)/).waitFor();
    await editor.command("cellgate: Restart Kernel");
    await editor.dialog("Restart the kernel").locator(".monaco-button", { hasText: /^Restart$/ }).click();
    await editor.statusItem(/plan\.py-\w+ · idle/).waitFor();
    await editor.goToLine(2);
    await editor.page.keyboard.press("Control+Enter");
    await editor.lens(/\[1\] [\d.]+ m?s/).waitFor();
});

scenario("a notebook runs on a Jupyter server that was chosen for it", {
    files: { "plan.ipynb": notebookOf("import os; print('runs in', os.getcwd())") },
}, async ({ editor }) => {
    const server = await sharedJupyterServer();
    await editor.openFile("plan.ipynb");
    await editor.command("cellgate: Select Kernel…");
    await chooseOnServer(editor, server.url);
    await sendToken(editor, server.token);
    await editor.choose(/^Python 3/);
    await editor.page.locator(".kernel-label", { hasText: `on ${server.url.replace("http://", "")} in cellgate` }).waitFor();
    await editor.screenshot("chosen");
    await editor.command("Notebook: Run All");
    await editor.frame(`text=runs in ${server.home}`);
    await editor.screenshot("ran");
});

scenario("kernel_in_gvisor", {
    files: { "plan.py": cells }, prepare: generated, settings: () => ({ "cellgate.sandboxLauncher": "gvisor" }),
}, async ({ workspace, editor }) => {
    await editor.openFile("plan.py");
    await editor.lens("Run Cell").first().waitFor();
    await runCells(workspace, editor, `runs in ${workspace.path} #1 SMP Sun Jan 10 15:06:54 PST 2016`);
});

// Makes an image of podman, says with which storage, and removes both once its stdin ends.
const makeImage = `
import image_testing, sys
podman = image_testing.Podman()
try:
    image_testing.make_root(podman.root)
    podman.import_root("analysis")
    print(podman.environment["CONTAINERS_STORAGE_CONF"], flush=True)
    sys.stdin.read()
finally:
    podman.remove()
`;
let images, storage;

scenario("kernel_in_an_image", {
    files: { "plan.py": cells },
    prepare: async (workspace) => {
        await generated(workspace);
        const integration = path.join(import.meta.dirname, "..", "..", "integration");
        images = spawn("/usr/bin/python3", ["-B", "-c", makeImage], { cwd: integration, stdio: ["pipe", "pipe", "inherit"] });
        const [line] = await once(images.stdout, "data");
        storage = line.toString().trim();
    },
    settings: { "cellgate.sandboxImage": "analysis" },
    environment: () => ({ CONTAINERS_STORAGE_CONF: storage }),
}, async ({ workspace, editor }) => {
    try {
        await editor.openFile("plan.py");
        await editor.lens("Run Cell").first().waitFor();
        await runCells(workspace, editor, `runs in ${workspace.path} ${os.version()} False`);
    } finally {
        images.stdin.end();
        await once(images, "close");
    }
});

scenario("kernel_that_already_runs: its variables are there, its calls are asked about, and it is left running", {
    files: { "plan.py": "# %%\nprint('kept', kept)\n\n# %%\nfrom mcptools.host import write_file\n_ = write_file.run(path='made.txt', content=kept)\n" },
    prepare: generated,
}, async ({ workspace, editor }) => {
    const file = path.join(workspace.base, "kernel.json");
    const parameters = ["-m", "ipykernel_launcher", "-f", file, "--IPKernelApp.exec_lines=kept = 'from before'"];
    const kernel = spawn("/usr/bin/python3", parameters, { stdio: "ignore", env: { PATH: process.env.PATH, HOME: workspace.base } });
    try {
        await until(() => existsSync(file), "the kernel's connection file");
        await editor.openFile("plan.py");
        await editor.lens("Run Cell").first().waitFor();
        await editor.command("cellgate: Select Kernel…");
        await editor.choose("A kernel that already runs…");
        await editor.page.locator(".quick-input-widget", { hasText: "connection file" }).waitFor();
        await input(editor).fill(file);
        await input(editor).press("Enter");
        await editor.screenshot("chosen");
        await editor.notification("The next session has kernel.json, which already runs.").waitFor();
        await editor.openFile("plan.py");
        await editor.lens("Run Cell").first().click();
        await editor.frame("text=kept from before");
        await editor.statusItem("unsandboxed").waitFor();
        await editor.lens("Run Cell").nth(1).click();
        const approvals = await Approvals.of(editor);
        await approvals.block("plan.py:6").waitFor();
        await editor.screenshot("call");
        await approvals.press(approvals.allow("this call"));
        await editor.lens(/\[\d+\] [\d.]+ m?s/).nth(1).waitFor();
        assert.equal(await workspace.read("made.txt"), "from before");
        await editor.command("cellgate: Restart Kernel");
        await editor.notification("was not started by cellgate").waitFor();
        await editor.screenshot("not restarted");
        await workspace.cellgate("stop");
        assert.equal(kernel.exitCode, null);
    } finally {
        const exited = once(kernel, "exit");
        kernel.kill("SIGKILL");
        await exited;
    }
});
