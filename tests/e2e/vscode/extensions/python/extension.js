// This extension plays the Python extension: the part of its API that reports the chosen interpreter. That is
// $CHOSEN_PYTHON, until a command chooses $OTHER_PYTHON. If $HOLD_PYTHON names a file, the answer waits until it
// exists.
const { existsSync } = require("node:fs");
const vscode = require("vscode");

exports.activate = async (context) => {
    const { CHOSEN_PYTHON, OTHER_PYTHON, HOLD_PYTHON } = process.env;
    let path = CHOSEN_PYTHON;
    const changed = new vscode.EventEmitter();
    context.subscriptions.push(
        changed,
        vscode.commands.registerCommand("python.chooseOther", () => {
            path = OTHER_PYTHON;
            changed.fire({ path });
        }),
    );
    while (HOLD_PYTHON && !existsSync(HOLD_PYTHON)) await new Promise((resolve) => setTimeout(resolve, 20));
    return {
        environments: {
            onDidChangeActiveEnvironmentPath: changed.event,
            getActiveEnvironmentPath: () => ({ id: "chosen", path }),
            resolveEnvironment: async (environment) => ({ executable: { uri: vscode.Uri.file(environment.path) } }),
        },
    };
};
