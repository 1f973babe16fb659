// What survives a window, and what is told of what does not.
import { scenario } from "./driver/scenario.mjs";
import { until } from "./driver/wait.mjs";

const files = {
    "long.py": [
        "# %%\nimport os, time\nkept = 'kept'\nopen('begun', 'w').close()\n",
        "while not os.path.exists('end'): time.sleep(0.02)\n",
        "# %%\nopen('second', 'w').write(kept)\n",
    ].join(""),
};

async function runAll({ place, editor }) {
    await editor.openFile("long.py");
    await editor.lens("Run Cell").first().waitFor();
    await editor.command("cellgate: Run All Cells");
    await until(() => place.has("begun"), "the first cell to run");
}

scenario("a window that reloads in the middle of a run finds it where it is", { files }, async ({ place, editor }) => {
    await runAll({ place, editor });
    await editor.reload();
    await editor.lens("running").waitFor();
    await editor.lens(/queued/).waitFor();
    await editor.statusItem(/long\.py-\w+ · busy · 1 waiting/).waitFor();
    await place.write("end", "");
    await editor.lens(/\[1\]/).waitFor();
    await editor.lens(/\[2\]/).waitFor();
    await until(async () => place.has("second") && (await place.read("second")) === "kept", "the variable of the first cell");
    await editor.screenshot("after");
});

scenario("a sidecar that is killed is started again, and what was lost is said", { files }, async ({ place, editor }) => {
    await runAll({ place, editor });
    const sidecar = (await place.processes()).find(({ command }) => command.includes("root-sidecar"));
    process.kill(sidecar.pid, "SIGKILL");
    const told = editor.notification("ended unexpectedly");
    await told.getByText(/the variables of one session are gone \(long\.py-\w+\); one cell was interrupted/).waitFor();
    await editor.lens("kernel ended").waitFor();
    await editor.lens("cancelled").waitFor();
    await editor.screenshot("told");
    await place.write("end", "");
    await editor.lens("Run Cell").first().click();
    await editor.lens(/\[1\]/).waitFor();
});
