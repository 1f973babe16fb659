// Stands in for the Python extension: of its API, what tells others which interpreter a person chose. Here that is the
// one whose path is in $CHOSEN_PYTHON, until a command chooses the one in $OTHER_PYTHON. Where $HOLD_PYTHON names a file,
// it takes until that is there.
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
