// This extension plays the editor's chat: it calls a tool of the editor as question.json of the workspace says, and
// writes answer.json.
const vscode = require("vscode");

exports.activate = (context) => {
    context.subscriptions.push(
        vscode.commands.registerCommand("asker.ask", async () => {
            const root = vscode.workspace.workspaceFolders[0].uri;
            const question = vscode.Uri.joinPath(root, "question.json");
            const { tool, input } = JSON.parse(Buffer.from(await vscode.workspace.fs.readFile(question)).toString());
            let answer;
            try {
                const { content } = await vscode.lm.invokeTool(tool, { input, toolInvocationToken: undefined });
                answer = { text: content.map((part) => part.value ?? "").join("") };
            } catch (error) {
                answer = { error: String(error) };
            }
            const file = vscode.Uri.joinPath(root, "answer.json");
            await vscode.workspace.fs.writeFile(file, Buffer.from(JSON.stringify(answer)));
        }),
    );
};
