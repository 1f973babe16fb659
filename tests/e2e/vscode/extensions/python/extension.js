// Stands in for the Python extension: of its API, what tells others which interpreter a person chose. Here that is the
// one whose path is in $CHOSEN_PYTHON.
const vscode = require("vscode");

exports.activate = () => ({
    environments: {
        getActiveEnvironmentPath: () => ({ id: "chosen", path: process.env.CHOSEN_PYTHON }),
        resolveEnvironment: async ({ path }) => ({ executable: { uri: vscode.Uri.file(path) } }),
    },
});
