// The official MCP SDK as a client of `cellgate mcp`, for test_mcp_sdk.py: `node mcp_sdk_client.mjs LINE COMMAND…`.
// LINE is `v1` (legacy era) or `v2` (modern). Its user says yes to every question. Prints what it saw as JSON.

const [line, command, ...args] = process.argv.slice(2);
const questions = [];
const progress = [];
const answer = async (request) => {
  questions.push(request.params.message);
  return { action: "accept", content: { allow: true } };
};
const info = { name: `sdk ${line}`, version: "1" };
const server = { command, args, env: process.env, stderr: "inherit" };

let client;
let call;
if (line === "v1") {
  const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
  const { StdioClientTransport } = await import("@modelcontextprotocol/sdk/client/stdio.js");
  const { ElicitRequestSchema } = await import("@modelcontextprotocol/sdk/types.js");
  client = new Client(info, { capabilities: { elicitation: {} } });
  client.setRequestHandler(ElicitRequestSchema, answer);
  await client.connect(new StdioClientTransport(server));
  call = (name, parameters, options) => client.callTool({ name, arguments: parameters }, undefined, options);
} else {
  const { Client } = await import("@modelcontextprotocol/client");
  const { StdioClientTransport } = await import("@modelcontextprotocol/client/stdio");
  client = new Client(info, { capabilities: { elicitation: {} }, versionNegotiation: { mode: "auto" } });
  client.setRequestHandler("elicitation/create", answer);
  await client.connect(new StdioClientTransport(server));
  call = (name, parameters, options) => client.callTool({ name, arguments: parameters }, options);
}

const { tools } = await client.listTools();
const executed = await call("execute", { code: "print('hello', flush=True)\nimport time; time.sleep(0.5)\n6 * 7" },
  { onprogress: (each) => progress.push(each.message) });
const registered = await call("generate_wrappers", { server: "fix" });
const called = await call("execute", { code: "from mcptools.fix import tool_2\nprint(tool_2.run(s='by the SDK'))" });
const failed = await call("execute", { code: "1 / 0" });
const aborting = new AbortController();
const endless = call("execute", { code: "print('runs', flush=True)\nwhile True: pass" }, {
  signal: aborting.signal,
  onprogress: () => aborting.abort("enough"),
});
const aborted = await endless.then(() => false, () => true);
const after = await call("execute", { code: "'still there'" });
const picture = await call("execute", {
  code: "from IPython.display import display, Image\ndisplay(Image(b'\\x89PNG', format='png'))",
});
console.log(JSON.stringify({
  server: client.getServerVersion(),
  tools: tools.map((tool) => tool.name),
  executed, registered, called, failed, aborted, after, picture, questions, progress,
}));
await client.close();
