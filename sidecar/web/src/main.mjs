// The tool server `web`: MCP on stdio, in cellgate's sandbox for tool servers. The same file is what its worker runs.
import { isMainThread, parentPort, workerData } from "node:worker_threads";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { Failure } from "./failure.mjs";
import { markdownOf } from "./markdown.mjs";
import { tools } from "./tools.mjs";

function described({ name, title, description, inputSchema, outputSchema, annotations }) {
    return { name, title, description, inputSchema, outputSchema, annotations };
}

async function call(request, { signal }) {
    const { name, arguments: given = {} } = request.params;
    const tool = tools.find((each) => each.name === name);
    try {
        if (tool === undefined) throw new Failure(`there is no tool ${name}`);
        const { images = [], ...structuredContent } = await tool.run(given, signal);
        return { content: [{ type: "text", text: tool.text(structuredContent) }, ...images], structuredContent };
    } catch (error) {
        if (!(error instanceof Failure)) console.error(error);
        return { content: [{ type: "text", text: error.message }], isError: true };
    }
}

async function serve() {
    const server = new Server({ name: "cellgate-web", version: "1" }, { capabilities: { tools: {} } });
    server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: tools.map(described) }));
    server.setRequestHandler(CallToolRequestSchema, call);
    process.stdin.on("end", () => process.exit(0));
    await server.connect(new StdioServerTransport());
}

function work() {
    try {
        parentPort.postMessage({ page: markdownOf(workerData.html, workerData.address) });
    } catch (error) {
        parentPort.postMessage({ error: error.message });
    }
}

if (isMainThread) void serve();
else work();
