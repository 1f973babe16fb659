// These functions prepare a workspace as on a machine that lacks something.
import { execFileSync } from "node:child_process";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { cellgateProgram } from "./workspace.mjs";

/** A Python that has no ipykernel, and a pip that "installs" the system's. @param {import("./workspace.mjs").TestWorkspace} workspace */
export async function bareVenv(workspace, venv = path.join(workspace.base, "venv")) {
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

/** The program as it is, on a machine that has no bubblewrap. @param {import("./workspace.mjs").TestWorkspace} workspace */
export async function withoutBubblewrap(workspace) {
    const program = path.join(workspace.base, "cellgate");
    const script = `mount --bind /dev/null /usr/bin/bwrap && exec "${cellgateProgram()}" "$@"`;
    await writeFile(program, `#!/bin/sh\nexec unshare --map-root-user --mount sh -c '${script}' sh "$@"\n`);
    await chmod(program, 0o755);
    // Where the editor and the user are on different machines, the settings of the editor's own count.
    const settings = path.join(workspace.base, "user-data/Machine/settings.json");
    await mkdir(path.dirname(settings), { recursive: true });
    await writeFile(settings, JSON.stringify({ "cellgate.program": program }));
}
