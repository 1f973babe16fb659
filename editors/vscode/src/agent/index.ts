// `agent` offers the tools of `cellgate mcp` to the editor's own chat, as tools of the editor and, where supported, as
// an MCP server. To cellgate it is an agent: actions of its code are approved in this window, like those of a cell.

import * as vscode from "vscode";
import type { Cellgate } from "../cellgate";
import { confirmationOf } from "./confirmation";
import { McpClient, type ToolResult } from "./mcpClient";

/** Later than API 1.100, so not in its types. */
interface LaterApi {
    readonly lm: {
        registerMcpServerDefinitionProvider(
            id: string,
            provider: { provideMcpServerDefinitions(): unknown[] },
        ): vscode.Disposable;
    };
    readonly McpStdioServerDefinition: new (label: string, command: string, args: string[]) => unknown;
    readonly LanguageModelDataPart?: { image(data: Uint8Array, mimeType: string): vscode.LanguageModelTextPart };
}
interface Manifest {
    contributes: { languageModelTools: { name: string; displayName: string }[] };
}

const later = vscode as unknown as LaterApi;

/** Version 1.100 has the function too, and refuses it to extensions. */
function takesMcpServers(): boolean {
    const [major = 0, minor = 0] = vscode.version.split(".").map(Number);
    return major > 1 || minor > 100;
}

export function agent(cellgate: Cellgate): vscode.Disposable {
    let client: Promise<McpClient> | undefined;
    const allTools = () => {
        const launch = cellgate.launch("mcp");
        return { ...launch, arguments: [...launch.arguments, "--as", "all"] };
    };
    const connect = () =>
        (client ??= McpClient.open(allTools(), { name: "VS Code chat", version: cellgate.version }, cellgate.log).then(
            (opened) => {
                void opened.ended.then(() => (client = undefined));
                return opened;
            },
            (error: unknown) => {
                client = undefined;
                throw error;
            },
        ));

    const tools = (cellgate.extension.extension.packageJSON as Manifest)
        .contributes.languageModelTools;
    const registrations = tools.map(({ name, displayName }) => {
        const tool = name.replace(/^cellgate_/, "");
        return vscode.lm.registerTool(name, {
            prepareInvocation: ({ input }: vscode.LanguageModelToolInvocationPrepareOptions<object>) => {
                const { doing, title, message } = confirmationOf(tool, displayName, input);
                return { invocationMessage: doing, confirmationMessages: { title, message: new vscode.MarkdownString(message) } };
            },
            invoke: async (options: vscode.LanguageModelToolInvocationOptions<object>, token) => {
                const result = connect().then((opened) => {
                    // What was cancelled while cellgate started is not begun.
                    if (token.isCancellationRequested) throw new vscode.CancellationError();
                    return opened.callTool(tool, options.input, token);
                });
                // MCP does not answer what was cancelled.
                const cancelled = new Promise<never>((_, reject) =>
                    token.onCancellationRequested(() => reject(new vscode.CancellationError())),
                );
                return new vscode.LanguageModelToolResult(partsOf(await Promise.race([result, cancelled])));
            },
        });
    });
    const provider = {
        provideMcpServerDefinitions: () => {
            const { program, arguments: args } = cellgate.launch("mcp");
            return [new later.McpStdioServerDefinition("cellgate", program, args)];
        },
    };
    if (takesMcpServers()) registrations.push(later.lm.registerMcpServerDefinitionProvider("cellgate", provider));
    return vscode.Disposable.from(...registrations, {
        dispose: () => void client?.then((opened) => opened.close()),
    });
}

function partsOf({ content }: ToolResult): vscode.LanguageModelTextPart[] {
    return content.map((block) => {
        if (block.type === "text") return new vscode.LanguageModelTextPart(block.text);
        const { data, mimeType } = block;
        const image = later.LanguageModelDataPart?.image(Buffer.from(data, "base64"), mimeType);
        return image ?? new vscode.LanguageModelTextPart(`[a picture, ${mimeType}, which this editor cannot hand on]`);
    });
}
