// How long it takes from a line that a kernel prints to the same line in the window of a VS Code in a browser: the line
// says when it was printed, and an observer in the window when it came, both by this machine's clock. A worker of the
// bench, as peer_worker.py has them.
import { createInterface } from "node:readline";

process.env.CELLGATE_E2E_VSCODE ??= "1.139";
const { Editor } = await import("../e2e/vscode/driver/editor.mjs");
const { end } = await import("../e2e/vscode/driver/end.mjs");
const { TestWorkspace } = await import("../e2e/vscode/driver/workspace.mjs");
const { Server } = await import("../e2e/vscode/driver/server.mjs");
const { until } = await import("../e2e/vscode/driver/wait.mjs");

// A line at a time, as code prints that has something else to do; each request begins with nothing shown.
const cell = `# %%
import itertools, os, random, time
from IPython.display import clear_output
print("begun")
for turn in itertools.count():
    while not os.path.exists(f"take-{turn}") or not os.path.getsize(f"take-{turn}"):
        time.sleep(0.01)
    clear_output()
    for _ in range(int(open(f"take-{turn}").read())):
        print(f"printed at {time.time()}.", flush=True)
        time.sleep(random.uniform(0.1, 0.2))
`;

/** Runs in the window: keeps when each line came. */
function observe() {
    window.came = new Map();
    const look = () => {
        const now = Date.now() / 1000;
        for (const [, printed] of document.body.textContent.matchAll(/printed at (\d+\.\d+)\./g)) {
            if (!window.came.has(printed)) window.came.set(printed, now);
        }
    };
    new MutationObserver(look).observe(document.body, { childList: true, characterData: true, subtree: true });
}

const workspace = await TestWorkspace.make({ "plan.py": cell });
let server, editor;
try {
    server = await Server.start(workspace);
    editor = await Editor.open(server, workspace.base);
    await editor.openFile("plan.py");
    await editor.lens("Run Cell").click();
    const frame = await editor.frame("text=begun");
    await frame.evaluate(observe);
    const samples = () => frame.evaluate(() => [...window.came].map(([printed, came]) => came - Number(printed)));

    let turn = 0;
    let taken = 0;
    console.log("ready");
    for await (const line of createInterface({ input: process.stdin })) {
        const count = Number(line);
        await workspace.write(`take-${turn++}`, line);
        await until(async () => (await samples()).length >= taken + count, async () => `${count} lines; there are ${(await samples()).length - taken}`);
        console.log(JSON.stringify((await samples()).slice(taken)));
        taken += count;
    }
} finally {
    await editor?.close();
    await server?.stop();
    await workspace.remove();
    await end();
}
