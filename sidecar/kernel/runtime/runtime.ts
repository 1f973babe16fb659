/**
 * The runtime of the tool wrappers in this folder. A wrapper sends its call over the session's tool channel (a unix
 * socket, one JSON-RPC 2.0 message a line), waits for the decision and the tool's answer, and returns that. It needs no
 * package, and runs in Deno and in Node.js from 22 on.
 */

/** What a call takes beside its arguments. */
export interface CallOptions {
  /** Gives the call up: the promise rejects with the signal's reason. */
  signal?: Signal;
}

/** An AbortSignal. */
export interface Signal {
  readonly aborted: boolean;
  readonly reason?: unknown;
  addEventListener(type: "abort", listener: () => void): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

/** A call that brought no result. `kind` names the cause. */
export class ToolCallError extends Error {
  readonly kind: string;
  readonly server: string;
  readonly tool: string;

  constructor(text: string, kind: string, server: string, tool: string) {
    super(text);
    this.name = new.target.name;
    this.kind = kind;
    this.server = server;
    this.tool = tool;
  }
}

/** The tool server answered that the call failed, or with something that its own schema does not allow. */
export class ToolError extends ToolCallError {}

/**
 * No answer came: the tool server did not start, ended or broke the protocol, or cellgate itself is gone. The tool may
 * have run nevertheless.
 */
export class ToolConnectionError extends ToolCallError {}

/** The call was not allowed; the reason is the message. */
export class ApprovalDenied extends ToolCallError {}

/** One block of a tool's answer: of type text, image, audio, resource_link or resource. `data` is base64. */
export interface ContentBlock {
  type: string;
  text?: string;
  data?: string;
  mimeType?: string;
  [name: string]: unknown;
}

const display: unique symbol = Symbol.for("Jupyter.display");

/** The answer of a tool without an output schema. As text it is the text among its blocks. */
export class Answer {
  readonly content: ContentBlock[];

  constructor(content: ContentBlock[]) {
    this.content = content;
  }

  /** The text among the blocks, that of embedded resources too. */
  get text(): string {
    return this.content.map(textOf).filter((text) => text !== undefined).join("\n");
  }

  toString(): string {
    return this.text;
  }

  /** How a notebook shows it: its text, and its picture. */
  [display](): Record<string, string> {
    const bundle: Record<string, string> = { "text/plain": this.text };
    const picture = this.content.find((block) => block.type === "image");
    if (picture?.mimeType !== undefined && picture.data !== undefined) {
      bundle[picture.mimeType] = picture.data;
    }
    return bundle;
  }
}

function textOf(block: ContentBlock): string | undefined {
  if (block.type === "resource") {
    return (block["resource"] as { text?: string } | undefined)?.text;
  }
  return block.type === "text" ? block.text : undefined;
}

interface ToolResult {
  content?: ContentBlock[];
  structuredContent?: unknown;
  isError?: boolean;
}

const blocksOf = new WeakMap<object, ContentBlock[]>();

/** The blocks that came with a Result that is an object: its structure as text, images and so on. */
export function contentOf(result: object): ContentBlock[] {
  return blocksOf.get(result) ?? [];
}

/** Calls a tool without an output schema. */
export async function call(server: string, tool: string, params: object, options: CallOptions): Promise<Answer> {
  const result = await request(server, tool, params, options);
  const blocks = result.content ?? [];
  if (blocks.length === 0 && result.structuredContent !== undefined) {
    return new Answer([{ type: "text", text: JSON.stringify(result.structuredContent) }]);
  }
  return new Answer(blocks);
}

/** Calls a tool with an output schema. */
export async function callStructured<R>(
  server: string,
  tool: string,
  params: object,
  options: CallOptions,
): Promise<R> {
  const result = await request(server, tool, params, options);
  let found = result.structuredContent;
  if (found === undefined) { // Servers without structuredContent answer with its JSON as text.
    const { text } = new Answer(result.content ?? []);
    try {
      found = JSON.parse(text);
    } catch {
      const message = `the tool promised structured content and answered without: ${text}`;
      throw new ToolError(message, "resultInvalid", server, tool);
    }
  }
  if (typeof found === "object" && found !== null) {
    blocksOf.set(found, result.content ?? []);
  }
  return found as R;
}

// ---- The channel ----------------------------------------------------------------------------------------------------

interface Socket {
  setEncoding(encoding: "utf8"): void;
  write(text: string): void;
  destroy(): void;
  ref(): void;
  unref(): void;
  on(event: string, listener: (value: never) => void): void;
}

interface Failure {
  message?: string;
  data?: { kind?: string; hint?: string };
}

interface Message {
  id: number;
  result?: ToolResult;
  error?: Failure;
}

interface Waiting {
  resolve(message: Message): void;
  reject(reason: unknown): void;
}

/** One for all calls of the process. It keeps the process alive while a call waits. */
class Connection {
  static #current: Promise<Connection> | undefined;
  readonly #socket: Socket;
  readonly #waiting: Map<number, Waiting> = new Map();
  #number = 0;
  #received = "";

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setEncoding("utf8");
    socket.on("data", (text: string) => this.#receive(text));
    socket.on("error", (error: Error) => this.#lose(error.message));
    socket.on("close", () => this.#lose("it was closed"));
    socket.unref();
  }

  static get(): Promise<Connection> {
    Connection.#current ??= Connection.#open();
    return Connection.#current;
  }

  static async #open(): Promise<Connection> {
    const { process } = globalThis as { process?: { env: Record<string, string | undefined> } };
    const path = process?.env["CELLGATE_CHANNEL"];
    if (path === undefined || path === "") {
      Connection.#current = undefined;
      throw new Error(
        "tools can be called only from a kernel that cellgate started: run this code as a cell in an editor with " +
          "cellgate, or with `cellgate run FILE`",
      );
    }
    const net: string = "node:net"; // not a constant: this file needs no types of Node
    const { createConnection } = (await import(net)) as { createConnection(path: string): Socket };
    return new Connection(createConnection(path));
  }

  send(params: object, signal: Signal | undefined): Promise<Message> {
    const number = ++this.#number;
    // First, as it throws for what is no JSON.
    const text = JSON.stringify({ jsonrpc: "2.0", id: number, method: "tools/call", params });
    return new Promise((resolve, reject) => {
      const giveUp = () => {
        this.#write(JSON.stringify({ jsonrpc: "2.0", method: "$/cancelRequest", params: { id: number } }));
        this.#take(number)?.reject(signal?.reason);
      };
      const done = () => signal?.removeEventListener("abort", giveUp);
      this.#waiting.set(number, {
        resolve: (message) => (done(), resolve(message)),
        reject: (reason) => (done(), reject(reason)),
      });
      signal?.addEventListener("abort", giveUp);
      this.#socket.ref();
      this.#write(text);
    });
  }

  #write(text: string): void {
    this.#socket.write(text + "\n");
  }

  #take(number: number): Waiting | undefined {
    const found = this.#waiting.get(number);
    this.#waiting.delete(number);
    if (this.#waiting.size === 0) {
      this.#socket.unref();
    }
    return found;
  }

  #receive(text: string): void {
    this.#received += text;
    if (!text.includes("\n")) {
      return;
    }
    const lines = this.#received.split("\n");
    this.#received = lines.pop() ?? "";
    for (const line of lines) {
      const message = JSON.parse(line) as Message;
      this.#take(message.id)?.resolve(message); // none when the call was given up
    }
  }

  #lose(why: string): void {
    Connection.#current = undefined;
    this.#socket.destroy();
    const error = { message: `the connection to cellgate is gone: ${why}; restart the kernel's session` };
    for (const [id, waiting] of this.#waiting) {
      waiting.resolve({ id, error: { ...error, data: { kind: "channelClosed" } } });
    }
    this.#waiting.clear();
  }
}

const connectionKinds = ["toolServerFailed", "loginRequired", "channelClosed"];

function failureOf({ message = "", data = {} }: Failure, server: string, tool: string): ToolCallError {
  const kind = data.kind ?? "failed";
  if (kind === "denied") {
    return new ApprovalDenied(message, kind, server, tool);
  }
  const text = `${server}.${tool}: ${message}${data.hint ? ` (${data.hint})` : ""}`;
  const Type = connectionKinds.includes(kind) ? ToolConnectionError : ToolCallError;
  return new Type(text, kind, server, tool);
}

async function request(server: string, tool: string, params: object, { signal }: CallOptions): Promise<ToolResult> {
  if (signal?.aborted) {
    throw signal.reason;
  }
  const connection = await Connection.get();
  // Without a line: Deno's kernel knows those of the JavaScript that it makes of a cell, not those of the cell.
  const { error, result = {} } = await connection.send({ server, tool, arguments: params }, signal);
  if (error !== undefined) {
    throw failureOf(error, server, tool);
  }
  if (result.isError === true) {
    const said = new Answer(result.content ?? []).text || "the tool failed and said nothing about it";
    throw new ToolError(`${server}.${tool}: ${said}`, "toolError", server, tool);
  }
  return result;
}
