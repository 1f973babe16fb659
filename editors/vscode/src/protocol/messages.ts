// Every message between cellgate and its clients. Made from schemas/ by `schemas/generate.py clients`; a change belongs there.

/**
 * Id of a JSON-RPC request. An integer and a string are never the same id.
 */
export type RequestId = number | string;
/**
 * Nothing to say. `params` may be left out altogether.
 */
export interface NoParams {
    [k: string]: unknown;
}
/**
 * Done; there is nothing to report.
 */
export interface Empty {}
/**
 * The result of `shutdown`, as in LSP.
 */
export type Null = null;
/**
 * A JSON-RPC request. Params are always an object.
 */
export interface RequestMessage {
    jsonrpc: "2.0";
    id: RequestId;
    method: string;
    params?: {
        [k: string]: unknown;
    };
}
/**
 * A JSON-RPC notification: a request without an id, never answered.
 */
export interface NotificationMessage {
    jsonrpc: "2.0";
    method: string;
    params?: {
        [k: string]: unknown;
    };
}
/**
 * The answer to a request that succeeded.
 */
export interface ResultMessage {
    jsonrpc: "2.0";
    id: RequestId;
    result: unknown;
}
/**
 * The answer to a request that failed. `id` is null when the request's id could not be read.
 */
export interface ErrorMessage {
    jsonrpc: "2.0";
    id: number | string | null;
    error: {
        [k: string]: unknown;
    };
}
/**
 * An error as cellgate sends it. `code` and `data.kind` belong together as errors.json lists them.
 */
export interface ErrorObject {
    /**
     * A code of errors.json; never renumbered.
     */
    code: number;
    /**
     * What was expected and what was found; for -32602 it names the JSON path. For people.
     */
    message: string;
    data: {
        /**
         * The code's name.
         */
        kind: string;
        /**
         * What to do about it, for people; empty when there is nothing to do.
         */
        hint: string;
    };
}
/**
 * An error with which a client answers a request of cellgate. `data` is the client's own.
 */
export interface ClientError {
    code: number;
    message: string;
    data?: unknown;
}
/**
 * A URI as the editor writes it, such as file:///home/ada/plan.py.
 */
export type Uri = string;
/**
 * A file system path. A relative one is taken from the workspace.
 */
export type Path = string;
/**
 * A time, RFC 3339 in UTC.
 */
export type Time = string;
/**
 * A duration in seconds.
 */
export type Seconds = number;
/**
 * A size in bytes.
 */
export type Bytes = number;
/**
 * A line number, counted from 0.
 */
export type Line = number;
/**
 * An id of a session or an execution; a client may choose it. Letters, digits, dot, dash and underscore, not starting with a dot or a dash, at most 64.
 */
export type ChosenId = string;
/**
 * An id that cellgate made (approvals, rules).
 */
export type GivenId = string;
/**
 * Name of a tool server, as its configuration spells it.
 */
export type ServerName = string;
/**
 * Name of a tool, exactly as its server spells it.
 */
export type ToolName = string;
/**
 * A hash that stands for what something is. For a tool server: of its resolved command, arguments, working directory and names of variables, or of its URL. For a tool: of its definition.
 */
export type Identity = string;
/**
 * One line of text that is safe to show as it is: control, bidirectional and zero-width characters are escaped.
 */
export type VisibleLine = string;
/**
 * Like VisibleLine, over several lines: line feeds and tabs stay.
 */
export type VisibleText = string;
/**
 * Names to strings.
 */
export interface StringMap {
    [k: string]: string;
}
/**
 * A JSON object as it was written: every digit, name and blank, so that no client has to read JSON exactly.
 */
export type JsonText = string;
/**
 * Any JSON object.
 */
export interface JsonObject {
    [k: string]: unknown;
}
/**
 * What a client may do. It follows from how the client connected, never from what it says.
 */
export type Role = "user" | "agent";
/**
 * The isolation layers that really hold, such as bwrap, user-namespace, network-namespace, no-new-privileges, landlock, protected-files; exactly ["none"] when none does, and ["unknown"] of a session whose first kernel is starting, and of what an earlier sidecar did not finish.
 */
export type LayerNames = string[];
/**
 * The first request of every client.
 */
export interface InitializeParams {
    clientInfo: ClientInfo;
    /**
     * Process to watch: when it ends, this client has ended. null: none.
     */
    processId: number | null;
    /**
     * file: URI of the workspace folder; null: the directory in which cellgate was started.
     */
    rootUri: Uri | null;
    capabilities: ClientCapabilities;
    initializationOptions?: InitializationOptions;
}
/**
 * Who the client is; shown, never trusted.
 */
export interface ClientInfo {
    name: string;
    version?: string;
}
/**
 * What the client can do. What is not named it cannot.
 */
export interface ClientCapabilities {
    /**
     * It can show approvals and answer them. Default false.
     */
    approvals?: boolean;
    /**
     * It answers input/request. Default false.
     */
    input?: boolean;
    /**
     * A user's client: it can show elicitations and answer them. An agent's: its program can ask its user about an approval; asked only where no user is attached. Default false.
     */
    elicitation?: boolean;
    /**
     * Default inline.
     */
    images?: ImageTransport;
}
/**
 * How a client takes large display data: in the message, or as a file's path.
 */
export type ImageTransport = "inline" | "file";
/**
 * Settings that only the user makes: none of them comes from the workspace.
 */
export interface InitializationOptions {
    /**
     * How long a sidecar that was started by `connect` waits for this client when it vanishes, and while cells run. Default 0. What waits for a user waits as long.
     */
    lingerSeconds?: Seconds;
    /**
     * Tool servers by name. Given by a user, so starting them needs no further yes.
     */
    mcpServers?: {
        [k: string]: McpServerConfig;
    };
    /**
     * How much of an execution's output is kept: beyond it, its first and its latest half of that. For executions from now on. Default 1 GiB.
     */
    outputLimitBytes?: Bytes;
    /**
     * Whether a kernel is kept ready for the next session, or restart, that is as the one before: it takes the memory of one more kernel. The latest client that says so decides. Default false.
     */
    spareKernel?: boolean;
}
/**
 * Who answers, in which version, and what the client may do.
 */
export interface InitializeResult {
    serverInfo: ServerInfo;
    protocolVersion: "1";
    role: Role;
    /**
     * What this sidecar can do beyond the methods of its protocol version: nothing yet.
     */
    capabilities: {};
    /**
     * What was lost with earlier sidecars of this workspace that ended without a goodbye (a crash, a kill), the latest first. Every user of this sidecar receives it, and none of the next sidecar. For about a week execution/get and output/read still know what they ran.
     */
    lost?: LostWork[];
}
/**
 * cellgate and its version.
 */
export interface ServerInfo {
    name: "cellgate";
    version: string;
}
/**
 * What one sidecar was doing when it ended.
 */
export interface LostWork {
    /**
     * The last sign of life.
     */
    endedAt: Time;
    /**
     * Their kernels have ended, and their variables are gone.
     */
    sessions: ChosenId[];
    /**
     * That had not finished. Of those that were running, any part may have happened.
     */
    executions: LostExecution[];
}
/**
 * An execution that will not finish any more.
 */
export interface LostExecution {
    executionId: ChosenId;
    sessionId: ChosenId;
    /**
     * At that time.
     */
    state: "queued" | "running";
    cell?: CellPosition;
}
/**
 * The request to give up. It is still answered: with its result, or with -32800.
 */
export interface CancelRequestParams {
    id: RequestId;
}
/**
 * Progress of a request that carried `workDoneToken`.
 */
export interface ProgressParams {
    token: RequestId;
    value: ProgressValue;
}
/**
 * A step of the work.
 */
export type ProgressValue = ProgressBegin | ProgressReport | ProgressEnd;
/**
 * Work begins.
 */
export interface ProgressBegin {
    kind: "begin";
    title: string;
    message?: string;
}
/**
 * Work goes on.
 */
export interface ProgressReport {
    kind: "report";
    message?: string;
}
/**
 * Work has ended.
 */
export interface ProgressEnd {
    kind: "end";
    message?: string;
}
/**
 * Starts a kernel in its sandbox. Without `kernel`: the first of kernel/list that speaks `language`.
 */
export interface SessionCreateParams {
    /**
     * Default: a new one. `default` is the workspace's default session.
     */
    sessionId?: ChosenId;
    /**
     * As kernelspecs spell it. Default python.
     */
    language?: string;
    kernel?: KernelChoice;
    /**
     * Where the kernel starts. Default: the workspace.
     */
    cwd?: Path;
    /**
     * Go back to `cwd` after every execution. Default false.
     */
    restoreCwd?: boolean;
    /**
     * Variables for the kernel, beside the clean environment that it gets.
     */
    env?: StringMap;
    /**
     * Default true, or what the sidecar was started with.
     */
    sandbox?: SandboxChoice;
    limits?: Limits;
    /**
     * One of runtimes: its limits where `limits` has none, its domains, and how its code is checked. Default: the user's, where profiles.json names one; an agent may choose one without domains unless it does.
     */
    profile?: ProfileName;
    /**
     * The only tool servers that code in this session may call. Default: all.
     */
    toolServers?: ServerName[];
    workDoneToken?: RequestId;
}
/**
 * true: the sandbox. false: no isolation. An object: the sandbox by another launcher, of an image, with a settings file in srt's format, which adds to what is shown, and hides, or with SandboxAdditions. The last two are a user's to choose.
 */
export type SandboxChoice =
    | boolean
    | {
          launcher?: SandboxLauncher;
          /**
           * The files of this image are the sandbox's system, in place of the machine's, and its Python is the kernel. Looked up in podman's storage for each start that a user asks for; never pulled. With the launchers bwrap and gvisor.
           */
          image?: ImageName;
          /**
           * Read once for each start that a user asks for (session/create, session/restart). From the workspace, if it is relative; ~ is the home directory.
           */
          configFile?: Path;
          allowRead?: SandboxPaths;
          allowWrite?: SandboxPaths;
          gpu?: SandboxGpu;
      };
/**
 * bwrap: the default. gvisor: the same with a kernel of its own for the code (runsc), slower. landlock: where user namespaces are refused, a weaker sandbox by Landlock and filters of system calls, without a network; sandboxNotices says what it lacks. It is never taken unasked, and agents run no code in such a session.
 */
export type SandboxLauncher = "bwrap" | "gvisor" | "landlock";
/**
 * Of a container's image, as podman takes it: a name with or without a tag, or an id.
 */
export type ImageName = string;
/**
 * The image whose files are the system of a session's sandbox.
 */
export interface SessionImage {
    name: ImageName;
    /**
     * Of the image that had this name when the kernel was started.
     */
    id: string;
}
/**
 * What isolates a kernel or a tool server.
 */
export type SandboxKind = "bwrap" | "gvisor" | "landlock" | "none";
/**
 * true: the sandbox. false: no isolation. An object: the sandbox by another launcher, with a settings file in srt's format.
 */
export type ServerSandboxChoice =
    | boolean
    | {
          /**
           * bwrap or gvisor.
           */
          launcher?: SandboxLauncher;
          configFile?: Path;
      };
/**
 * What a user adds to what a sandbox shows.
 */
export interface SandboxAdditions {
    /**
     * Shown, read-only.
     */
    allowRead?: SandboxPaths;
    /**
     * Shown, and writable but for what is guarded.
     */
    allowWrite?: SandboxPaths;
    gpu?: SandboxGpu;
}
/**
 * Files and folders: without wildcards, from the workspace if they are relative, `~` is the home. What the settings file denies stays denied.
 */
export type SandboxPaths = Path[];
/**
 * The devices of graphics cards, for computing. An error where there is none.
 */
export type SandboxGpu = boolean;
/**
 * A kernelspec by name, an interpreter by path, a kernel that already runs by its connection file, or one on a Jupyter server.
 */
export interface KernelChoice {
    name?: string;
    interpreter?: Path;
    connectionFile?: ConnectionFileName;
    server?: KernelServer;
}
/**
 * A Jupyter server (Jupyter Server, JupyterHub's, Kernel Gateway, Enterprise Gateway) that starts the session's kernel on its machine. Such a kernel has no sandbox and no limits, and takes no `env`; `cwd` and its files are that machine's.
 */
export interface KernelServer {
    /**
     * http or https, without a user, a query or a token: https://example.org/user/me.
     */
    url: string;
    /**
     * The token itself, or ${secret:NAME} for one that is kept as a secret. Default: none; if the server wants one, the users are asked for it.
     */
    token?: string;
    /**
     * The kernelspec, as the server names it. Default: the server's default one.
     */
    name?: string;
}
/**
 * The connection file of a kernel that already runs, which the session uses and leaves running: an absolute path, a path from the home directory (~/), or a name, a part of a name or a pattern with * and ? in Jupyter's runtime directory, of which the newest file is taken. Empty: the newest one there. Such a kernel has no sandbox and no limits, takes no `env`, and is not restarted.
 */
export type ConnectionFileName = string;
/**
 * Limits for the kernel and what it starts. One that cannot be enforced fails the call with 1005 and nothing starts; an unknown one is refused. Where a control group is available (cellgate doctor says), memoryBytes and processCount also hold for all processes together, and have defaults: three quarters of the machine's memory, and 4096 processes; without a group that memory is the limit of each process. An agent's session has at most 8 GB of memory, 3600 s of processor time, 4096 processes and executions of 300 s, also unasked, unless a user set otherwise in agents.json; for more it gets 1024.
 */
export interface Limits {
    /**
     * Private memory of each process: beyond it, Python has a MemoryError, and the kernel lives. In a control group also the memory of all processes, with shared memory and scratch files: beyond that, the system ends one of them, and an execution whose kernel it was has status oom.
     */
    memoryBytes?: Bytes;
    /**
     * Processes and threads together, the kernel's own dozen included. Root's are counted in a control group only.
     */
    processCount?: number;
    /**
     * How many processors all processes together may keep busy: 1.5 is one and a half. Only in a control group.
     */
    cpuCores?: number;
    /**
     * Processor time of each process, in whole seconds; over the kernel's whole life. A kernel that reaches it ends.
     */
    cpuSeconds?: Seconds;
    /**
     * Open files of each process; a kernel itself has about 50.
     */
    openFiles?: number;
    /**
     * Size of each file that is written, in the workspace too.
     */
    fileSizeBytes?: Bytes;
    /**
     * What each of /tmp, /dev/shm and the private home may hold. Default: 1 GiB in /tmp, 512 MiB in the others.
     */
    diskBytes?: Bytes;
    /**
     * The longest that an execution may run: a timeoutSeconds that is longer, or not given, becomes this. Holds without a sandbox too.
     */
    wallSeconds?: number;
}
/**
 * What the kernel of a session does.
 */
export type SessionStatus = "starting" | "idle" | "busy" | "restarting" | "dead";
/**
 * What an agent calls itself: at most 40 characters, escaped. Not to be believed.
 */
export type AgentName = VisibleLine;
/**
 * A session as it is now.
 */
export interface SessionInfo {
    sessionId: ChosenId;
    status: SessionStatus;
    kernel: SessionKernel;
    /**
     * Where the kernel was started; absolute.
     */
    cwd: Path;
    sandbox: SandboxKind;
    layers: LayerNames;
    image?: SessionImage;
    profile?: ProfileName;
    /**
     * The settings file that the sandbox follows; absolute.
     */
    sandboxConfig?: Path;
    sandboxAdditions?: SandboxAdditions;
    /**
     * With a settings file: what it asks for and does not get, and why. With the launcher landlock: also what that lacks. Also repositories of the workspace that make git run or obey what has no protected name.
     */
    sandboxNotices?: VisibleLine[];
    /**
     * Number of the last counted execution; 0 in a fresh kernel.
     */
    executionCount: number;
    /**
     * Executions that wait, without the running one.
     */
    queueLength: number;
    /**
     * Those that were set for it.
     */
    limits?: Limits;
    createdAt: Time;
    /**
     * The agent that created it, as it calls itself. It may restart it, and the session ends with its connection.
     */
    agent?: AgentName;
}
/**
 * What runs in a session.
 */
export interface SessionKernel {
    /**
     * The kernelspec's name, or the interpreter's file name.
     */
    name: string;
    /**
     * Absent for kernels that no interpreter runs.
     */
    interpreter?: Path;
    /**
     * Of a kernel that already ran when the session began; absolute.
     */
    connectionFile?: Path;
    /**
     * The address of the Jupyter server whose kernel it is.
     */
    server?: VisibleLine;
    language: string;
    /**
     * The language's version, once the kernel has told it.
     */
    version?: string;
}
/**
 * All sessions of the workspace, oldest first.
 */
export interface SessionListResult {
    sessions: SessionInfo[];
}
/**
 * The session that is meant.
 */
export interface SessionParams {
    sessionId: ChosenId;
}
/**
 * All that a client needs to go on with a session that another one, or itself before a reload, has used. From this answer on execute/changed and execute/output of all its executions come to this client, also of those that others start later. execution/get has the result of an ended execution.
 */
export interface SessionAttachResult {
    session: SessionInfo;
    /**
     * The latest thousand that have ended, in the order of their ends; the one that runs; those that wait, in the order of the queue.
     */
    executions: AttachedExecution[];
}
/**
 * An execution at the moment of the answer.
 */
export interface AttachedExecution {
    executionId: ChosenId;
    state: ExecutionState;
    /**
     * While queued: how many executions of the session come before it now, with the running one.
     */
    position?: number;
    /**
     * While it is queued, the next of its session, and has to wait because as many executions of agents run as may at a time (agents.json): how many of other sessions come before it, with those that run.
     */
    waitsBehind?: number;
    /**
     * Where its records divide: those below this number are in the journal, and none of them is sent after this answer; those from it on come as execute/output after this answer, and none was sent before. So output/read from 0 up to this number, and what is notified, are together every record once. (output/read goes on beyond it where there is more by then: what it returns from this number on is left aside.)
     */
    nextSeq: number;
    /**
     * Where the code is in the editor, as execute received it.
     */
    cell?: CellPosition;
    /**
     * Whose it is. Absent when it is a user's.
     */
    agent?: AgentName;
}
/**
 * Copies the value of a variable to another session, of any language that has values of JSON. Both sessions are idle.
 */
export interface SessionTransferParams {
    from: ChosenId;
    to: ChosenId;
    name: VariableName;
    /**
     * What it is called there. Default: `name`.
     */
    as?: VariableName;
}
/**
 * What was copied.
 */
export interface SessionTransferResult {
    /**
     * Of the value, as its own language names it.
     */
    type: VisibleLine;
    /**
     * Of the value as JSON.
     */
    bytes: Bytes;
}
/**
 * A name that a variable can have in every language.
 */
export type VariableName = string;
/**
 * Names a profile.
 */
export type ProfileName = string;
/**
 * The session whose kernel is ended and started again. Queued executions are cancelled.
 */
export interface SessionRestartParams {
    sessionId: ChosenId;
    /**
     * Beside what the session was created with, from now on.
     */
    sandbox?: SandboxAdditions;
    workDoneToken?: RequestId;
}
/**
 * A session has a new status. `reason` says why where that is not plain, such as how a kernel died.
 */
export interface SessionChangedParams {
    sessionId: ChosenId;
    status: SessionStatus;
    reason?: string;
}
/**
 * New limits of a session; those that are not named stay. An agent may lower those of its own session.
 */
export interface LimitsSetParams {
    sessionId: ChosenId;
    limits: Limits;
}
/**
 * The limits that are set for the session now. `afterRestart`: those of the call that hold once its kernel has started again; the others hold at once.
 */
export interface LimitsSetResult {
    limits: Limits;
    afterRestart: LimitName[];
}
/**
 * A field of Limits.
 */
export type LimitName =
    "memoryBytes" | "processCount" | "cpuCores" | "cpuSeconds" | "openFiles" | "fileSizeBytes" | "diskBytes" | "wallSeconds";
/**
 * Code to run. Executions of a session run one after the other.
 */
export interface ExecuteParams {
    /**
     * Default: a new one.
     */
    executionId?: ChosenId;
    /**
     * Default: the workspace's default session, which is started on demand.
     */
    sessionId?: ChosenId;
    /**
     * At most 4,194,304 characters, without U+0000.
     */
    code: string;
    /**
     * Where the code is in the editor.
     */
    cell?: CellPosition;
    /**
     * Counts only while no approval of this execution is pending. Default, and most: the session's limit wallSeconds, where it has one.
     */
    timeoutSeconds?: number;
    /**
     * Default ask.
     */
    approvals?: ApprovalMode;
    /**
     * Hosts that this execution may connect to without asking: recorded grants, which deny rules still beat; refused to agents.
     */
    allowedDomains?: HostPattern[];
    /**
     * Keep which files of the workspace it changes: changes/list, changes/undo. Default false; those of agents always are, where there is git.
     */
    changes?: boolean;
    /**
     * Jupyter's: no count, no history, no execute_result. Default false.
     */
    silent?: boolean;
    /**
     * Jupyter's. Default true, false when silent.
     */
    storeHistory?: boolean;
    /**
     * When this ends in an error, what the same client queued behind it in this session is cancelled. Default true, as in Jupyter.
     */
    stopOnError?: boolean;
    /**
     * Tells the start of a kernel, where one is started.
     */
    workDoneToken?: RequestId;
}
/**
 * ask: a user decides where no rule does. deny: denied where no rule allows. allow: a recorded grant for this execution, which deny rules still beat; refused to agents.
 */
export type ApprovalMode = "ask" | "deny" | "allow";
/**
 * A document, and the line in it at which the code starts.
 */
export interface CellPosition {
    uri: Uri;
    line: Line;
}
/**
 * How an execution ended. Its output was sent before, or announced as skipped.
 */
export interface ExecuteResult {
    executionId: ChosenId;
    status: ExecutionStatus;
    /**
     * Why it ended so, where status and error do not say it, such as how the kernel died.
     */
    reason?: string;
    /**
     * The kernel's number for it; null when it has none.
     */
    executionCount: number | null;
    error?: ExecutionError;
    /**
     * Size of all its output, as JSON.
     */
    outputBytes: Bytes;
    /**
     * The journal could not keep all of its output.
     */
    truncated: boolean;
    /**
     * When truncated: why, in words.
     */
    outputProblem?: string;
    /**
     * From the start in the kernel to its idle, waiting included; 0 when it never started.
     */
    durationSeconds: Seconds;
    /**
     * Of that, the time in which an approval was pending.
     */
    waitedSeconds: Seconds;
    layers: LayerNames;
    /**
     * What the sandbox refused. For the user; the code does not see them.
     */
    notes?: Note[];
}
/**
 * timeout: interrupted because its time was over. cancelled: interrupted or removed on request. killed: its kernel was ended or died. oom: it ran out of memory.
 */
export type ExecutionStatus = "ok" | "error" | "timeout" | "cancelled" | "killed" | "oom";
/**
 * What was refused to an execution, by what, and what would allow it.
 */
export interface Note {
    text: VisibleLine;
    /**
     * What a user can do, in words.
     */
    remedy: VisibleLine;
    /**
     * The rule that would allow it, for policy/add.
     */
    rule?: RuleSpec;
    /**
     * What would show it, for session/restart.
     */
    sandbox?: SandboxAdditions;
    /**
     * What would install it, for packages/install.
     */
    install?: string[];
    /**
     * The package whose wrappers were not generated: mcptools, or mcptools.SERVER.
     */
    wrappers?: string;
}
/**
 * The exception that ended an execution.
 */
export interface ExecutionError {
    ename: string;
    evalue: string;
    /**
     * Lines as the kernel made them, with ANSI colours.
     */
    traceback: string[];
    /**
     * Outermost first.
     */
    frames: Frame[];
}
/**
 * One frame of a traceback. In a cell that came with a `cell`, uri and line are the editor's; in one without, uri is absent and the line counts from the start of the code.
 */
export interface Frame {
    uri?: Uri;
    line: Line;
    function: string;
}
/**
 * Where an execution stands.
 */
export type ExecutionState = "queued" | "running" | "finished";
/**
 * An execution changed its state. `position` counts the executions of the session that come before it, with the running one. It is sent when the execution is queued, and with `waitsBehind` when it begins to wait for its turn; execution/get has the present ones. The message goes to the client that asked for the execution and to those attached to its session; every user receives what an agent runs, with the agent's name, and its output.
 */
export interface ExecuteChangedParams {
    executionId: ChosenId;
    state: ExecutionState;
    position?: number;
    /**
     * While it is queued, the next of its session, and has to wait because as many executions of agents run as may at a time (agents.json): how many of other sessions come before it, with those that run.
     */
    waitsBehind?: number;
    /**
     * Of an agent's execution.
     */
    sessionId?: ChosenId;
    /**
     * Whose it is. Absent when it is a user's. execution/get has its code.
     */
    agent?: AgentName;
}
/**
 * Records `seq` to `seq + count - 1` of an execution's journal: either an output, into which adjacent stream records may have been joined, or `skippedBytes` where the client was too slow, or the output too large for a message: output/read has it.
 */
export interface ExecuteOutputParams {
    executionId: ChosenId;
    /**
     * Number of the first record, from 0 without gaps.
     */
    seq: number;
    /**
     * How many records.
     */
    count: number;
    output?: Output;
    files?: LargeData;
    skippedBytes?: Bytes;
    /**
     * It came after the reply to `execute`, for instance from a thread.
     */
    late?: true;
}
/**
 * The last word of an MCP server on a call that the execution waits for. Without `message`: the call has ended.
 */
export interface ExecuteProgressParams {
    executionId: ChosenId;
    server: ServerName;
    tool: ToolName;
    /**
     * In one line: `2 of 5: reading`.
     */
    message?: string;
}
/**
 * Display data over 256 KiB, kept in files for clients that asked for that, and over 16 MiB for all. The files are removed with the journal. This field is outside the output, which the kernel wrote and could forge; `data` then lacks these types.
 */
export type LargeData = LargeDatum[];
/**
 * Display data of one type, in a file.
 */
export interface LargeDatum {
    mime: string;
    bytes: Bytes;
    path: Path;
}
/**
 * An output as nbformat 4 writes it, or one of Jupyter's two messages that change earlier ones.
 */
export type Output =
    StreamOutput | DisplayDataOutput | ExecuteResultOutput | ErrorOutput | UpdateDisplayDataOutput | ClearOutput;
/**
 * Text that was printed; one record holds at most 256 KiB.
 */
export interface StreamOutput {
    output_type: "stream";
    name: "stdout" | "stderr";
    text: string;
}
/**
 * MIME types to content: text, base64 for binary types, any JSON for JSON types.
 */
export interface MimeBundle {
    [k: string]: unknown;
}
/**
 * Something to show. With `transient.display_id`, later updates may replace it.
 */
export interface DisplayDataOutput {
    output_type: "display_data";
    data: MimeBundle;
    metadata: JsonObject;
    transient?: JsonObject;
}
/**
 * The value of the last expression.
 */
export interface ExecuteResultOutput {
    output_type: "execute_result";
    execution_count: number | null;
    data: MimeBundle;
    metadata: JsonObject;
}
/**
 * An exception, as the kernel shows it. The middle of a very long one is cut, and says so.
 */
export interface ErrorOutput {
    output_type: "error";
    ename: string;
    evalue: string;
    traceback: string[];
}
/**
 * New content for every display with that `transient.display_id`.
 */
export interface UpdateDisplayDataOutput {
    output_type: "update_display_data";
    data: MimeBundle;
    metadata: JsonObject;
    transient: {
        display_id: string;
        [k: string]: unknown;
    };
}
/**
 * Remove the outputs so far: now, or (`wait`) when the next one comes.
 */
export interface ClearOutput {
    output_type: "clear_output";
    wait: boolean;
}
/**
 * Queued: removed. Running: interrupted; `force` kills and restarts the kernel if it does not stop.
 */
export interface ExecuteCancelParams {
    executionId: ChosenId;
    /**
     * How long to wait for it to stop. Default 5.
     */
    graceSeconds?: Seconds;
    /**
     * Default false.
     */
    force?: boolean;
}
/**
 * `kernelBusy`: after the grace it still runs.
 */
export interface ExecuteCancelResult {
    kernelBusy: boolean;
}
/**
 * The execution that is meant.
 */
export interface ExecutionParams {
    executionId: ChosenId;
}
/**
 * Where an execution stands; its result once it has finished.
 */
export interface ExecutionInfo {
    executionId: ChosenId;
    sessionId: ChosenId;
    state: ExecutionState;
    /**
     * While queued: how many executions of the session come before it now, with the running one.
     */
    position?: number;
    /**
     * While it is queued, the next of its session, and has to wait because as many executions of agents run as may at a time (agents.json): how many of other sessions come before it, with those that run.
     */
    waitsBehind?: number;
    /**
     * As execute was given it. Absent of what an earlier sidecar ran.
     */
    code?: string;
    /**
     * Whose it is. Absent when it is a user's.
     */
    agent?: AgentName;
    /**
     * How many of its actions wait for a user now. Absent when none does.
     */
    pendingApprovals?: number;
    /**
     * While it runs: since its start in the kernel, waiting included.
     */
    durationSeconds?: Seconds;
    result?: ExecuteResult;
}
/**
 * Reads the journal of an execution, running or finished.
 */
export interface OutputReadParams {
    executionId: ChosenId;
    /**
     * First record. Default 0.
     */
    fromSeq?: number;
    /**
     * About how much to return; at least one record comes if there is one. Default 1 MiB, at most 8 MiB.
     */
    maxBytes?: Bytes;
}
/**
 * Records in order. `nextSeq` is the `fromSeq` of the next call.
 */
export interface OutputReadResult {
    records: OutputRecord[];
    nextSeq: number;
    /**
     * The execution has finished and nothing follows `nextSeq`.
     */
    complete: boolean;
    /**
     * What the journal could not keep of this execution.
     */
    droppedBytes: Bytes;
    /**
     * Why something was dropped or skipped, in words.
     */
    problem?: string;
}
/**
 * Like execute/output, without the execution's id. A record with `skippedBytes` takes the place of records that the journal dropped or could not read.
 */
export interface OutputRecord {
    seq: number;
    count: number;
    output?: Output;
    files?: LargeData;
    skippedBytes?: Bytes;
    late?: true;
}
/**
 * The code reads from standard input.
 */
export interface InputRequestParams {
    executionId: ChosenId;
    /**
     * The code's words; at most 16 KiB, the middle of longer ones is cut.
     */
    prompt: string;
    /**
     * Do not show what is typed.
     */
    password: boolean;
}
/**
 * What was typed, without the line end. An error instead of a result is end of file to the code.
 */
export interface InputRequestResult {
    value: string;
}
/**
 * One thing that needs permission, with its exact payload. `tool`: a call of an MCP tool. `host`: a call of the built-in server. `server`: starting a tool server, or using one at a URL. network: a connection, of a cell's or of the tool server `server`. `request`: one of HTTP to a host whose requests are judged one by one. install: of packages. output: text of an agent's execution, on its way to the agent.
 */
export interface Action {
    kind: ActionKind;
    server?: ServerName;
    tool?: ToolName;
    /**
     * As the code sent them.
     */
    argumentsText?: JsonText;
    command?: Argv;
    /**
     * Where the command starts. Of a call of a tool: that the client which asks carries it out itself, and where.
     */
    cwd?: Path;
    /**
     * Names of the variables that the command gets. Values that a user gave are never shown.
     */
    environmentNames?: string[];
    /**
     * Of these, what a file of the workspace says, as it is written there: nothing is put in for ${VAR}.
     */
    environment?: {
        [k: string]: string;
    };
    /**
     * Of a tool server that runs elsewhere, as it is written: nothing is put in for ${VAR}.
     */
    url?: string;
    /**
     * Names of the header fields that its requests carry. Values that a user gave are never shown.
     */
    headerNames?: string[];
    /**
     * Of these, what a file of the workspace says, as it is written there.
     */
    headers?: {
        [k: string]: string;
    };
    /**
     * Of a workspace's kernel: whether it runs in the sandbox, and nothing of it outside. Of a tool server: that it does.
     */
    sandbox?: boolean;
    /**
     * Of a tool server in the sandbox: what makes it. Absent: bwrap.
     */
    sandboxLauncher?: SandboxLauncher;
    /**
     * Of a tool server in the sandbox: the settings file by which it runs there.
     */
    sandboxConfig?: Path;
    /**
     * What that file says, as it is written.
     */
    sandboxSettingsText?: JsonText;
    /**
     * Of what starts in the sandbox: what it can read there for its program, besides the workspace and the system.
     */
    folders?: Path[];
    /**
     * Host name or address.
     */
    host?: string;
    port?: number;
    /**
     * Of a connection that is open: its bytes are neither TLS to its host nor HTTP, or cannot be judged as such. Absent: whether it may be opened.
     */
    protocol?: NetworkProtocol;
    /**
     * Of a request: it goes over TLS, to a server whose certificate was verified.
     */
    tls?: boolean;
    /**
     * GET, POST … WEBSOCKET: the opening of a WebSocket, over which all that follows is not seen.
     */
    method?: HttpMethod;
    /**
     * Of the request's URL, as it was sent.
     */
    path?: string;
    /**
     * What follows the first ? in the URL.
     */
    query?: string;
    /**
     * The header fields as the code sent them ("name: value"), without those about the connection alone.
     */
    requestHeaders?: string[];
    /**
     * What cellgate puts into the request once it is allowed. Never a value.
     */
    secrets?: SecretName[];
    /**
     * Absent: the request has no body, or one whose length is known only at its end.
     */
    bodyBytes?: number;
    /**
     * Of a body that is no text, in hex. Absent where it is larger than 8 MiB, too.
     */
    bodySha256?: string;
    /**
     * The body, where it is text of at most 8 MiB.
     */
    body?: string;
    /**
     * What the agent gets.
     */
    outputText?: string;
    /**
     * Of which tools ("server/tool") the session has results that a user wants to see first.
     */
    results?: string[];
    /**
     * Which program inside of the sandbox wants to connect, as the sandbox says it: not to be relied on.
     */
    program?: string;
    /**
     * Which server exactly; a grant binds it.
     */
    serverIdentity?: Identity;
    /**
     * Which definition of the tool exactly; a grant binds it.
     */
    toolIdentity?: Identity;
}
/**
 * What kind of thing needs permission.
 */
export type ActionKind = "tool" | "host" | "server" | "network" | "request" | "install" | "output";
/**
 * A program and its arguments, resolved; no shell reads it.
 */
export type Argv = string[];
/**
 * What a rule does, or a decision says. inspect: it decides nothing; the requests to its host are judged one by one. review: it decides nothing; what an agent gets of a session that has results of its tools waits for a user.
 */
export type Effect = "allow" | "ask" | "deny" | "inspect" | "review";
/**
 * raw: bytes of any kind, which cellgate cannot judge.
 */
export type NetworkProtocol = "raw";
/**
 * touch: a signature by a security key that was touched for it.
 */
export type ConfirmationMeans = "touch";
/**
 * A user's confirmation of an answer, in the format of OpenSSH: `ssh-keygen -Y check-novalidate -n cellgate -s SIGNATURE < TEXT` checks it.
 */
export interface Confirmation {
    means: ConfirmationMeans;
    /**
     * What was signed: the answer, and hashes of the action and of what was shown.
     */
    text: string;
    /**
     * As a line of authorized_keys, without its comment.
     */
    publicKey: string;
    signature: string;
}
/**
 * In capitals, as RFC 9110 has them.
 */
export type HttpMethod = string;
/**
 * Where in a request a secret goes.
 */
export type InjectionAs = "bearer" | "basic" | "header" | "query" | "aws";
/**
 * A secret that cellgate puts into requests once they are allowed, over verified TLS alone. The code does not see it: a response that has the value has its name in its place. bearer: `authorization: Bearer VALUE`. basic: the value is USER:PASSWORD. header, query: the field or the parameter `name`, in place of what the code sent. aws: the value is ACCESSKEYID:SECRETKEY, or with :SESSIONTOKEN behind it; the request, which the code signed with placeholders in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, is signed again (Signature Version 4).
 */
export interface Injection {
    as: InjectionAs;
    name?: string;
    /**
     * With at least one ${secret:NAME}.
     */
    value: string;
    /**
     * In which code that starts later finds a placeholder, for programs that want a token.
     */
    variable?: SecretName;
}
/**
 * How an action was decided.
 */
export type Verdict = "allow" | "deny";
/**
 * How long an answer holds: this call; while this execution runs; while this session lives; in this workspace; always.
 */
export type Scope = "once" | "execution" | "session" | "workspace" | "always";
/**
 * What an argument has to be. equals: this JSON value. glob: a string that the pattern covers; * stops at /, ** does not. under: a path in this folder, after resolving . and .. and links; a relative one is taken from the workspace. in: one of these JSON values. lessThan: a number that is less.
 */
export interface Matcher {
    equals?: unknown;
    glob?: string;
    under?: Path;
    in?: unknown[];
    lessThan?: number;
}
/**
 * JSON pointers into the arguments, or into the body of a request that is JSON, to what each has to match. All have to. A value that is not there matches nothing; "" is the whole.
 */
export interface ArgumentMatchers {
    [k: string]: Matcher;
}
/**
 * A rule as one is written. An absent field matches all. Unknown fields are refused: a condition that is ignored would widen the rule. An allow rule names at least a kind.
 */
export interface RuleSpec {
    effect: Effect;
    kind?: ActionKind;
    server?: ServerName;
    tool?: ToolName;
    arguments?: ArgumentMatchers;
    host?: HostPattern;
    /**
     * Of requests: these alone.
     */
    methods?: HttpMethod[];
    /**
     * Of requests: those whose path one of these patterns covers; * stops at /, ** does not. A path that servers read differently (with .. or // or an encoded /) is covered by no allow rule.
     */
    paths?: string[];
    /**
     * Of an inspect rule: what is put into the requests that it covers.
     */
    inject?: Injection;
    /**
     * Of an inspect rule: an OpenAPI document (JSON) of the host, from which questions name the operation of a request and rules can be written.
     */
    openapi?: Path;
    /**
     * Of connections: an allow rule with it covers opening one and raw bytes in it, without it only TLS and HTTP. A rule of another effect is, with it, about raw bytes alone.
     */
    protocol?: NetworkProtocol;
    /**
     * Of an ask rule: a yes has to be confirmed so.
     */
    confirm?: ConfirmationMeans;
    expiresAt?: Time;
    /**
     * Of an allow rule: how many actions it still allows.
     */
    uses?: number;
    tests?: RuleTests;
}
/**
 * Arguments of actions that a rule has to match, and that it must not. With one that comes out otherwise the rule is refused when it is added. Where one comes out otherwise later, an allow rule does not apply and any other does; the question, the reason and the log say so.
 */
export interface RuleTests {
    match?: TestArguments;
    noMatch?: TestArguments;
}
/**
 * Each as a call has them.
 */
export type TestArguments = JsonObject[];
/**
 * A host of the network: a name (example.org), the names below one (*.example.org), or an address (192.0.2.1, [2001:db8::1]); with :443, at this port alone. In ASCII; case does not matter. No pattern covers a whole top-level domain.
 */
export type HostPattern = string;
/**
 * Where a rule comes from. default: built in. user: a tool server that a user gave may start. commandLine: --allow. execution, session: answers that live in memory. workspaceStore: kept for this workspace. userStore: kept for every workspace.
 */
export type RuleSource = "default" | "user" | "commandLine" | "execution" | "session" | "workspaceStore" | "userStore";
/**
 * A rule in force: what was written, and where it comes from.
 */
export interface Rule {
    id: GivenId;
    effect: Effect;
    kind?: ActionKind;
    server?: ServerName;
    tool?: ToolName;
    arguments?: ArgumentMatchers;
    host?: HostPattern;
    /**
     * Of requests: these alone.
     */
    methods?: HttpMethod[];
    /**
     * Of requests: those whose path one of these patterns covers; * stops at /, ** does not. A path that servers read differently (with .. or // or an encoded /) is covered by no allow rule.
     */
    paths?: string[];
    /**
     * Of an inspect rule: what is put into the requests that it covers.
     */
    inject?: Injection;
    /**
     * Of an inspect rule: an OpenAPI document (JSON) of the host, from which questions name the operation of a request and rules can be written.
     */
    openapi?: Path;
    /**
     * Of connections: an allow rule with it covers opening one and raw bytes in it, without it only TLS and HTTP. A rule of another effect is, with it, about raw bytes alone.
     */
    protocol?: NetworkProtocol;
    /**
     * Of an ask rule: a yes has to be confirmed so.
     */
    confirm?: ConfirmationMeans;
    /**
     * sha256 in hex of the one payload that this grant covers.
     */
    payloadHash?: string;
    /**
     * The grant covers this server alone.
     */
    serverIdentity?: Identity;
    /**
     * The grant covers this definition of the tool alone.
     */
    toolIdentity?: Identity;
    source: RuleSource;
    /**
     * With source session or execution: whose.
     */
    sessionId?: ChosenId;
    /**
     * With source execution: whose.
     */
    executionId?: ChosenId;
    createdAt?: Time;
    expiresAt?: Time;
    /**
     * Of an allow rule: how many actions it still allows.
     */
    uses?: number;
    tests?: RuleTests;
}
/**
 * The source line that makes the call. The text comes from cellgate's record of the cell; which line it is, the code itself reported. Absent when it reported none.
 */
export interface Origin {
    /**
     * The cell's document, if `execute` named one.
     */
    uri?: Uri;
    /**
     * In that document; without one, in the code.
     */
    line: Line;
    text: VisibleLine;
    reportedBy: "code";
}
/**
 * What the tool server says about its tool. Hints: nothing is decided by them.
 */
export interface Hints {
    title?: VisibleLine;
    description?: VisibleText;
    readOnlyHint?: boolean;
    destructiveHint?: boolean;
    idempotentHint?: boolean;
    openWorldHint?: boolean;
}
/**
 * An answer that is offered: `label` says in words what it covers. Without `rule`: exactly this payload.
 */
export interface Choice {
    label: VisibleLine;
    scope: Scope;
    rule?: RuleSpec;
}
/**
 * An action that waits for a user. `display` shows the whole payload and is what to show; `choices` begin with the narrowest.
 */
export interface Approval {
    approvalId: GivenId;
    action: Action;
    /**
     * Absent when no session is behind it.
     */
    sessionId?: ChosenId;
    /**
     * What runs in that session, by cellgate's own record. Absent when nothing does.
     */
    executionId?: ChosenId;
    /**
     * On whose behalf. Absent when it is a user's.
     */
    agent?: AgentName;
    origin?: Origin;
    hints: Hints;
    display: VisibleLine[];
    /**
     * Of a tool whose definition is not the one that a user last allowed: what is different, as lines of a diff that begin with a space, - or +. At most 200; the last says how many more there are.
     */
    definitionChanges?: VisibleLine[];
    /**
     * The arguments, or the request, laid out for a user who edits them, a line for each member, every number and name as it was sent. Absent: they cannot be edited, or take more than 8 MiB.
     */
    editText?: VisibleText;
    choices: Choice[];
    /**
     * A yes has to be confirmed so: the answer's request goes on until it is, or until the user gives up.
     */
    confirm?: ConfirmationMeans;
    createdAt: Time;
}
/**
 * An answer to one or more approvals: all of them are answered, or none.
 */
export interface ApprovalRespondParams {
    approvalIds: GivenId[];
    decision: Verdict;
    /**
     * Default once.
     */
    scope?: Scope;
    /**
     * What the answer covers beyond this payload: a choice's rule, or an edited one. It has to match the action.
     */
    rule?: RuleSpec;
    /**
     * `editText` as a user edited it; run in place of what was shown. Only for one approval.
     */
    argumentsText?: JsonText;
    /**
     * Told to the code when it is denied.
     */
    reason?: string;
    /**
     * The client has no user to ask: recorded as `noClient`, not as a user's decision. Only to deny.
     */
    unattended?: true;
}
/**
 * Who decided. elicitation: the user of the agent's own program, while no user was attached.
 */
export type DecidedBy = "user" | "rule" | "cancelled" | "noClient" | "elicitation";
/**
 * An approval was decided, by whomever. By a rule: one that an answer to another approval made.
 */
export interface ApprovalResolvedParams {
    approvalId: GivenId;
    decision: Verdict;
    by: DecidedBy;
    /**
     * The rule that decided, or that the answer made.
     */
    ruleId?: GivenId;
    reason?: string;
}
/**
 * How a user refused a question: by a no, by closing it, or by accepting it without the tick that allows the action.
 */
export type Refusal = "declined" | "cancelled" | "notTicked";
/**
 * An action of this agent's own that waits. `display` shows the whole payload.
 */
export interface ApprovalElicitParams {
    /**
     * The agent's execution that makes it. Absent when none does.
     */
    executionId?: ChosenId;
    origin?: Origin;
    display: VisibleLine[];
    /**
     * Whether an answer may hold for this exact action until the execution ends.
     */
    untilCellEnds: boolean;
}
/**
 * The answer. Without `scope` it is for this action once; it is never more than a grant of the execution. `how` says what a denial was.
 */
export interface ApprovalElicitResult {
    decision: Verdict;
    scope?: "once" | "execution";
    how?: Refusal;
}
/**
 * A question to the user. With `tool`, it is the tool server's, while a call of that tool waits for the answer: its words are the server's, and not to be believed. Without, it is for the inputs of the server's configuration, before it starts. form: `fields`. url: a page that the user opens in a browser, if at all; what is typed there cellgate never sees.
 */
export interface Elicitation {
    elicitationId: GivenId;
    server: ServerName;
    /**
     * The tool whose call waits.
     */
    tool?: ToolName;
    /**
     * Absent when no session is behind the call.
     */
    sessionId?: ChosenId;
    /**
     * What runs in that session. Absent when nothing does.
     */
    executionId?: ChosenId;
    /**
     * On whose behalf the tool is called. Absent when it is a user's.
     */
    agent?: AgentName;
    origin?: Origin;
    /**
     * What the server asks.
     */
    message: VisibleText;
    mode: ElicitationMode;
    /**
     * Of a form, in order. Empty: only a yes or a no is asked for.
     */
    fields?: ElicitationField[];
    /**
     * The page, http or https.
     */
    url?: VisibleLine;
    /**
     * The page's host, which is to be shown by itself: the one part of a URL that says whose it is.
     */
    host?: VisibleLine;
    createdAt: Time;
}
/**
 * What the user is asked to do: to fill in a form, or to open a page.
 */
export type ElicitationMode = "form" | "url";
/**
 * A field of a form. `initial`: what it holds beforehand, of the type of its value. Bounds are of a text's characters, a number, or the number of choices.
 */
export interface ElicitationField {
    /**
     * Its member of `values`.
     */
    name: string;
    title: VisibleLine;
    description?: VisibleText;
    type: ElicitationFieldType;
    required: boolean;
    /**
     * Of a text.
     */
    format?: ElicitationFormat;
    /**
     * Of a text of a configuration: it is typed unseen, and kept nowhere by a client.
     */
    secret?: boolean;
    minimum?: number;
    maximum?: number;
    /**
     * Of choice and choices.
     */
    options?: ElicitationOption[];
    initial?: unknown;
}
/**
 * What its value is: a string, a number, a whole number, true or false, the value of one option, or a list of values of options.
 */
export type ElicitationFieldType = "text" | "number" | "integer" | "boolean" | "choice" | "choices";
/**
 * What a text has to be.
 */
export type ElicitationFormat = "email" | "uri" | "date" | "date-time";
/**
 * One of the values that can be chosen, and what to show for it.
 */
export interface ElicitationOption {
    value: string;
    title: VisibleLine;
}
/**
 * accept: `values` are sent, or the page was opened. decline: a no. cancel: closed without an answer.
 */
export type ElicitationAction = "accept" | "decline" | "cancel";
/**
 * The user's answer. One whose `values` do not fit the form changes nothing (1027, with the field), and the elicitation still waits.
 */
export interface ElicitationRespondParams {
    elicitationId: GivenId;
    action: ElicitationAction;
    /**
     * By the fields' names, for accept of a form. A field that is left empty is left out.
     */
    values?: JsonObject;
}
/**
 * An elicitation does not wait any more: a user answered it, or the call that it was for has ended (by cancelled, with cancel).
 */
export interface ElicitationResolvedParams {
    elicitationId: GivenId;
    action: ElicitationAction;
    by: "user" | "cancelled";
}
/**
 * All rules and grants in force.
 */
export interface PolicyListResult {
    rules: Rule[];
}
/**
 * Adds a rule for a session, for this workspace, or always. For a session, `sessionId` says for which.
 */
export interface PolicyAddParams {
    rule: RuleSpec;
    scope: "session" | "workspace" | "always";
    sessionId?: ChosenId;
}
/**
 * Removes a rule or revokes a grant. Built-in rules stay.
 */
export interface PolicyRemoveParams {
    ruleId: GivenId;
}
/**
 * An action that this client will carry out itself, outside of cellgate: nothing runs here. Of kind `tool`, with `cwd` and as `server` the name under which rules have the client's tools; or of kind `request`. Identities, secrets and the server of a request are cellgate's to say.
 */
export interface ActionDecideParams {
    action: Action;
    /**
     * The client's own session of this name: a grant for a session holds for the actions that name it.
     */
    clientSession?: ChosenId;
}
/**
 * ask: no rule decides, and no user is connected who can: the client asks its own user.
 */
export type ClientVerdict = "allow" | "ask" | "deny";
/**
 * The decision about an action of the client's own.
 */
export interface ActionDecideResult {
    decision: ClientVerdict;
    by: DecidedBy;
    reason: VisibleLine;
}
/**
 * How an action ended that was allowed. cancelled: it was given up, or never ran. unknown: the client that asked carries it out itself.
 */
export type OutcomeStatus = "succeeded" | "failed" | "cancelled" | "unknown";
/**
 * What became of an action that was allowed.
 */
export interface Outcome {
    status: OutcomeStatus;
    endedAt: Time;
    /**
     * Why it failed, in the words of what failed.
     */
    error?: VisibleLine;
    /**
     * By a connection.
     */
    bytesSent?: number;
    /**
     * By a connection.
     */
    bytesReceived?: number;
}
/**
 * The gate's decision about an action, whether a user was asked or not.
 */
export interface PastDecision {
    /**
     * Counts all decisions since cellgate began.
     */
    number: number;
    decidedAt: Time;
    decision: Verdict;
    by: DecidedBy;
    /**
     * The rule that decided, or that the answer made, as it was then.
     */
    rule?: Rule;
    reason: VisibleLine;
    /**
     * As it was asked, or as a user edited it. Absent when its payload was too large to keep.
     */
    action?: Action;
    /**
     * A user changed the arguments.
     */
    edited?: true;
    /**
     * The action as a user reads it. Without `action`: only what kind of one it was.
     */
    display: VisibleLine[];
    /**
     * Of what a user was asked about.
     */
    approvalId?: GivenId;
    confirmation?: Confirmation;
    sessionId?: ChosenId;
    executionId?: ChosenId;
    agent?: AgentName;
    origin?: Origin;
    /**
     * Of an action that was allowed, once it has ended.
     */
    outcome?: Outcome;
    /**
     * A tool call that goes on: action/cancel ends it.
     */
    cancellable?: true;
}
/**
 * Cancels a tool call that was allowed and goes on, perhaps longer than the cell that made it. The code gets an error.
 */
export interface ActionCancelParams {
    /**
     * Of the decision that allowed it.
     */
    number: number;
}
/**
 * Something that happened. The record's own text of an entry is RFC 8785's canonical form of this object.
 */
export interface RecordEntry {
    /**
     * Counts from 0 without gaps.
     */
    seq: number;
    time: Time;
    /**
     * What happened: action.decided, action.ended, execution.started, execution.ended, kernel.started, kernel.ended, policy.added, policy.removed, session.created, session.closed, login.ended, files.changed, files.restored, limits.changed, secret.set, secret.deleted, secret.used; about the record itself: record.gap, record.pruned.
     */
    type: string;
    /**
     * Who did it: user, agent, rule, or cellgate itself.
     */
    actor: string;
    sessionId?: ChosenId;
    executionId?: ChosenId;
    /**
     * By the type. action.decided: a PastDecision without times and outcome, or without `action` and with its `sha256` where the payload is large. action.ended: `number` and the Outcome.
     */
    data: JsonObject;
}
/**
 * All conditions hold of an entry. Newest first.
 */
export interface RecordQueryParams {
    /**
     * Not before it.
     */
    since?: Time;
    /**
     * Before it.
     */
    until?: Time;
    types?: string[];
    sessionId?: ChosenId;
    executionId?: ChosenId;
    /**
     * Anywhere in the entry, in upper or lower case.
     */
    text?: string;
    /**
     * For the next page: the last `seq` of this one.
     */
    beforeSeq?: number;
    /**
     * At most so many. Default 100.
     */
    limit?: number;
}
/**
 * Entries, newest first, 8 MiB of them at most.
 */
export interface RecordQueryResult {
    entries: RecordEntry[];
    /**
     * Older ones meet the conditions, too.
     */
    more: boolean;
    /**
     * Why entries are not kept now.
     */
    problem?: VisibleLine;
}
/**
 * Checks every entry against the record's tree of hashes, and that against its signed checkpoints.
 */
export interface RecordVerifyParams {
    /**
     * One or more checkpoints that were kept elsewhere, as text: with them a record that was cut or written again is found, too.
     */
    checkpoint?: string;
}
/**
 * Whether the record is as it was written.
 */
export interface RecordVerifyResult {
    ok: boolean;
    /**
     * How many there are, with those that were pruned.
     */
    entries: number;
    /**
     * The first entry that was changed, removed, added or moved.
     */
    firstBadSeq?: number;
    /**
     * What is wrong.
     */
    problem?: VisibleLine;
    /**
     * The newest, as text (C2SP tlog-checkpoint).
     */
    checkpoint?: string;
}
/**
 * Whose changes: of an execution, or of an undo by its `undoId`.
 */
export interface ChangesParams {
    executionId: ChosenId;
}
/**
 * A file that was renamed is a deleted and a created one.
 */
export type ChangeKind = "created" | "modified" | "deleted";
/**
 * A file at one time.
 */
export interface FileVersion {
    /**
     * Of its content, or of a symbolic link's target.
     */
    sha256: string;
    bytes: Bytes;
    /**
     * Permission bits, in octal.
     */
    mode: string;
    /**
     * It is a symbolic link.
     */
    link?: true;
}
/**
 * A file of the workspace that is not as it was.
 */
export interface ChangedFile {
    path: WorkspacePath;
    kind: ChangeKind;
    before?: FileVersion;
    after?: FileVersion;
}
/**
 * A file of the workspace, relative to it. Its name may have any character but U+0000.
 */
export type WorkspacePath = string;
/**
 * Why a file, or one place, is left out.
 */
export interface PathProblem {
    /**
     * Relative to the workspace; empty for all of it.
     */
    path: VisibleLine;
    why: VisibleLine;
}
/**
 * Which files of the workspace were changed while it ran, by it or by others. The changes of an execution that runs, or whose files are not compared yet, are waited for.
 */
export interface ChangesListResult {
    executionId: ChosenId;
    /**
     * By path. At most 10,000.
     */
    files: ChangedFile[];
    /**
     * How many files there are, when these are not all.
     */
    count?: number;
    /**
     * No file of the workspace was left out, but those that .gitignore names.
     */
    complete: boolean;
    /**
     * When not complete: what was left out, the first 100. Undo does not touch it.
     */
    notCovered?: PathProblem[];
    /**
     * Executions that ran meanwhile: the changes may be theirs.
     */
    overlapping?: ChosenId[];
    /**
     * The newest undo of it.
     */
    undoneBy?: ChosenId;
}
/**
 * Before the execution, or after it.
 */
export type ChangeSide = "before" | "after";
/**
 * A file as it was before an execution, or after.
 */
export interface ChangesReadParams {
    executionId: ChosenId;
    path: WorkspacePath;
    side: ChangeSide;
}
/**
 * Its content, or a symbolic link's target; at most 8 MiB.
 */
export interface ChangesReadResult {
    /**
     * When it is UTF-8 without U+0000.
     */
    text?: string;
    /**
     * When it is not.
     */
    base64?: string;
}
/**
 * Makes files as they were before the execution: content, mode, and whether there is one.
 */
export interface ChangesUndoParams {
    executionId: ChosenId;
    /**
     * Only these. Default: all that changed.
     */
    paths?: WorkspacePath[];
}
/**
 * What an undo did: all of it, or nothing.
 */
export interface ChangesUndoResult {
    /**
     * Of this undo, which can be listed, read and undone as an execution is. Absent when nothing was changed.
     */
    undoId?: ChosenId;
    restored: WorkspacePath[];
    /**
     * Files that are not as the execution left them, so nothing was changed.
     */
    refused: PathProblem[];
}
/**
 * An execution whose changes are kept, or an undo, has changed files of the workspace. Sent to users after its result; not when it changed none.
 */
export interface ChangesFoundParams {
    executionId: ChosenId;
    sessionId?: ChosenId;
    agent?: AgentName;
    /**
     * How many.
     */
    files: number;
    complete: boolean;
    /**
     * The execution that an undo undid.
     */
    undoOf?: ChosenId;
}
/**
 * Entries of the record as they are written. One subscription for a client; another one replaces it.
 */
export interface EventsSubscribeParams {
    /**
     * Default: all.
     */
    types?: string[];
    sessionId?: ChosenId;
    /**
     * Begin with this entry. Default: the next one. An entry that is not kept any more is skipped.
     */
    fromSeq?: number;
}
/**
 * Where the subscription begins.
 */
export interface EventsSubscribeResult {
    /**
     * More than the one that was asked for, when older entries are not kept any more.
     */
    fromSeq: number;
}
/**
 * Figures of this cellgate, since it began.
 */
export interface StatsResult {
    startedAt: Time;
    /**
     * Of this process.
     */
    memoryBytes: Bytes;
    executions: ExecutionCounts;
    toolCalls: Latencies;
    /**
     * Their seconds: how long they waited for the answer.
     */
    approvals: Latencies;
    pendingApprovals: number;
    sessions: SessionStats[];
    /**
     * Absent while none is ready.
     */
    spareKernel?: SpareKernelStats;
}
/**
 * Figures of the kernel that is kept ready for the next session.
 */
export interface SpareKernelStats {
    processes: number;
    processorSeconds: Seconds;
    /**
     * As that of a session.
     */
    memoryBytes: Bytes;
}
/**
 * How many are in each state now, and how many have ended.
 */
export interface ExecutionCounts {
    queued: number;
    running: number;
    finished: number;
}
/**
 * How long something took: of the last 1,000, where there were any.
 */
export interface Latencies {
    /**
     * Of all.
     */
    count: number;
    p50Seconds?: Seconds;
    p95Seconds?: Seconds;
}
/**
 * Figures of a session. Those of its processes are absent while its kernel does not run.
 */
export interface SessionStats {
    sessionId: ChosenId;
    agent?: AgentName;
    status: SessionStatus;
    queueLength: number;
    processes?: number;
    /**
     * Of its present kernel, with the processes that it started.
     */
    processorSeconds?: Seconds;
    memoryBytes?: Bytes;
}
/**
 * The decision history, newest first: the last 100 answers of users, and the last 200 other decisions, or 8 MiB of them. They are kept as long as cellgate runs.
 */
export interface PolicyDecisionsResult {
    decisions: PastDecision[];
    /**
     * How many more there were.
     */
    forgotten: number;
}
/**
 * A rule in its short form: allow, ask or deny, and what, as `cellgate policy` takes it: "deny filesystem/write_file path=under:data", "allow network example.org".
 */
export interface PolicyParseParams {
    text: string;
}
/**
 * The rule, and what it says.
 */
export interface PolicyParseResult {
    rule: RuleSpec;
    words: VisibleLine;
}
/**
 * A rule that may be added.
 */
export interface PolicyPreviewParams {
    rule: RuleSpec;
}
/**
 * What the rule covers of the actions that the record has of the last 30 days. An action whose payload the record does not have whole is not looked at.
 */
export interface PolicyPreviewResult {
    since: Time;
    /**
     * Of those that it covers, how many were allowed.
     */
    allowed: number;
    /**
     * By a user or a rule: what no user was there to decide, or was withdrawn, is not counted.
     */
    denied: number;
    /**
     * The newest whose decision the rule would have changed, else the newest.
     */
    example?: RecordEntry;
}
/**
 * Entries of the record, of type action.decided.
 */
export interface PolicySuggestParams {
    seqs: number[];
}
/**
 * What would happen to this action now, with nothing being asked or done.
 */
export interface PolicyExplainParams {
    action: Action;
    /**
     * Count the grants of this session.
     */
    sessionId?: ChosenId;
    /**
     * Count the grants of this execution.
     */
    executionId?: ChosenId;
}
/**
 * What would happen, by which rule, in words. Without `rule`: none matches.
 */
export interface PolicyExplainResult {
    effect: Effect;
    rule?: Rule;
    reason: string;
}
/**
 * What a secret is called: in ${secret:NAME}, and in CELLGATE_SECRET_NAME of the environment.
 */
export type SecretName = string;
/**
 * user: for all workspaces of this user. workspace: for this one, where it hides a user's one of the same name. session: for what runs in one session, where it hides both; it is never on the disk and ends with the session.
 */
export type SecretScope = "user" | "workspace" | "session";
/**
 * Where the value is. stored: with cellgate, encrypted. command: a program prints it. file: in a file of NAME=value lines. environment: in CELLGATE_SECRET_NAME, where cellgate was started.
 */
export type SecretSource = "stored" | "command" | "file" | "environment";
/**
 * Keeps a secret, in the place of what had the name: one of `value`, `command` and `file`.
 */
export interface SecretSetParams {
    name: SecretName;
    /**
     * Default user.
     */
    scope?: SecretScope;
    /**
     * With scope session: which.
     */
    sessionId?: ChosenId;
    value?: string;
    /**
     * A program and its arguments, without a shell: what it prints, without the last line break, is the value. It runs outside every sandbox, when the secret is needed for the first time in a sidecar's life, for 60 seconds at most.
     */
    command?: string[];
    /**
     * Read when the secret is needed.
     */
    file?: Path;
}
/**
 * A secret without its value, which no message ever has.
 */
export interface SecretInfo {
    name: SecretName;
    scope: SecretScope;
    /**
     * With scope session: which.
     */
    sessionId?: ChosenId;
    source: SecretSource;
    /**
     * The command, or the file.
     */
    from?: VisibleLine;
    /**
     * The tool servers whose configuration names it.
     */
    usedBy: ServerName[];
    setAt?: Time;
    /**
     * In the last 30 days.
     */
    lastUsedAt?: Time;
}
/**
 * By name; of those that have one, the workspace's first.
 */
export interface SecretListResult {
    secrets: SecretInfo[];
}
/**
 * The secret to forget.
 */
export interface SecretDeleteParams {
    name: SecretName;
    /**
     * Default user.
     */
    scope?: SecretScope;
    /**
     * With scope session: which.
     */
    sessionId?: ChosenId;
}
/**
 * How to reach an MCP server, in the form that `mcpServers` of MCP clients and `servers` of VS Code share: a command to start, or a URL; or a server that is part of cellgate. Only one of these.
 */
export type McpServerConfig = StdioServerConfig | HttpServerConfig | BuiltInServerConfig;
/**
 * A program that speaks MCP on stdio. ${VAR}, ${VAR:-default}, ${secret:NAME} and ${workspaceFolder} expand after the yes.
 */
export interface StdioServerConfig {
    type?: "stdio";
    command: string;
    args?: string[];
    env?: StringMap;
    /**
     * Default: the workspace.
     */
    cwd?: Path;
    roots?: ServerRoots;
    inputs?: ServerInputs;
    /**
     * Runs it as kernels run. Default: false. `configFile` may hold variables; it is read at each start, and not for an agent. A command of srt's (srt [-s FILE] PROGRAM …, also by npx -y @anthropic-ai/sandbox-runtime) says the same, and needs no `sandbox`.
     */
    sandbox?: ServerSandboxChoice;
    builtin?: never;
}
/**
 * A server at a URL.
 */
export interface HttpServerConfig {
    type?: "http" | "sse" | "streamable-http" | "streamableHttp";
    url: string;
    headers?: StringMap;
    oauth?: OAuthConfig;
    roots?: ServerRoots;
    inputs?: ServerInputs;
    sandbox?: never;
    builtin?: never;
}
/**
 * A server that comes with cellgate, and runs in the sandbox: `web` fetches pages, opens them in Chromium, and searches through the SearXNG instance of the variable SEARXNG_URL.
 */
export interface BuiltInServerConfig {
    builtin: "web";
    env?: StringMap;
    inputs?: ServerInputs;
    sandbox?: never;
}
/**
 * Whether a server that asks for MCP's roots is given the workspace. Default: true. With roots, some servers (server-filesystem) leave the folders of their own arguments out of account.
 */
export type ServerRoots = boolean;
/**
 * What ${input:ID} in the texts of the configuration stands for. The user is asked before the server starts, once for as long as the sidecar runs; answers are never stored. In a file they are beside `servers`, as VS Code has them.
 */
export type ServerInputs = ServerInput[];
/**
 * One value that a user types or picks. Of type command, which only VS Code can run, a server that needs it cannot start.
 */
export interface ServerInput {
    type: ServerInputType;
    id: string;
    description?: string;
    default?: string;
    /**
     * Of promptString: it is typed unseen.
     */
    password?: boolean;
    /**
     * Of pickString, which needs them.
     */
    options?: string[];
}
/**
 * How a value is asked for.
 */
export type ServerInputType = "promptString" | "pickString" | "command";
/**
 * How cellgate is known to the authorization server of a tool server, for those where it cannot register itself. Variables expand as in headers.
 */
export interface OAuthConfig {
    /**
     * The id under which cellgate was registered, or the URL of its metadata document.
     */
    clientId?: string;
    clientSecret?: string;
    /**
     * Default authorization_code: a user logs in. client_credentials: the id and secret suffice, and no user is asked.
     */
    grantType?: OAuthGrantType;
    /**
     * To ask for. Default: those that the server names.
     */
    scopes?: string[];
    /**
     * Of the redirect to 127.0.0.1. Default: one that is chosen at the first login, and kept.
     */
    callbackPort?: number;
}
/**
 * How an access token is obtained.
 */
export type OAuthGrantType = "authorization_code" | "client_credentials";
/**
 * The tool server that is meant.
 */
export interface ToolServerParams {
    server: ServerName;
}
/**
 * A tool server by a user's word. It starts when it is first needed.
 */
export interface ToolServersAddParams {
    server: ServerName;
    config: McpServerConfig;
}
/**
 * All tool servers that are known, by name.
 */
export interface ToolServersListResult {
    servers: ToolServerInfo[];
}
/**
 * What a tool server wrote to stderr since it was last started: the last 64 KiB. Empty when it never was.
 */
export interface ToolServersLogResult {
    text: VisibleText;
}
/**
 * A tool server as it is now.
 */
export interface ToolServerInfo {
    name: ServerName;
    state: ToolServerState;
    source: ToolServerSource;
    /**
     * The file that names it.
     */
    file?: Path;
    identity: Identity;
    /**
     * Told to users only: its arguments may hold a secret.
     */
    command?: Argv;
    /**
     * Told to users only.
     */
    url?: string;
    /**
     * How it is reached. Absent of one that is part of cellgate.
     */
    transport?: ToolServerTransport;
    /**
     * Of a server at a URL.
     */
    authorization?: ToolServerAuthorization;
    /**
     * Known once it has run.
     */
    tools?: ToolInfo[];
    /**
     * Why it failed, with the end of its stderr.
     */
    error?: VisibleText;
    /**
     * Of one that is started by a command.
     */
    sandbox?: "bwrap" | "gvisor" | "none";
    /**
     * The settings file that its sandbox follows. Told to users only.
     */
    sandboxConfig?: Path;
    /**
     * Of one that runs in the sandbox: the layers that hold.
     */
    layers?: string[];
    /**
     * Of one that runs in the sandbox: what its settings ask for and do not get. Told to users only.
     */
    sandboxNotices?: VisibleText[];
}
/**
 * pending: a user has to agree to start it. stopped: starts on the next call.
 */
export type ToolServerState = "pending" | "stopped" | "starting" | "running" | "failed";
/**
 * stdio: a process. http: Streamable HTTP, or HTTP+SSE where the server has only that.
 */
export type ToolServerTransport = "stdio" | "http";
/**
 * none: the server has asked for none. needed: a user has to log in (toolServers/login). granted: there is a token.
 */
export type ToolServerAuthorization = "none" | "needed" | "granted";
/**
 * The login has begun, and waits for the user's browser: until it ends there (toolServers/loginEnded), for ten minutes. One that waited before for the same server has ended.
 */
export interface ToolServersLoginResult {
    /**
     * What the client opens in a browser, or shows to the user.
     */
    authorizationUrl: Uri;
    /**
     * The host of that page, to be shown.
     */
    host: VisibleLine;
}
/**
 * How a login ended.
 */
export interface ToolServersLoginEndedParams {
    server: ServerName;
    status: LoginStatus;
    /**
     * Why it failed.
     */
    message?: VisibleText;
}
/**
 * granted: there is a token. cancelled: given up by a client, or not finished in time.
 */
export type LoginStatus = "granted" | "failed" | "cancelled";
/**
 * Who named a tool server. builtIn: part of cellgate. user: initializationOptions or toolServers/add. commandLine. workspaceFile: a file in the workspace, see `file`. agent: wrappers/generate of an agent.
 */
export type ToolServerSource = "builtIn" | "user" | "commandLine" | "workspaceFile" | "agent";
/**
 * A tool as its server describes it.
 */
export interface ToolInfo {
    name: ToolName;
    inputSchema: JsonObject;
    outputSchema?: JsonObject;
    hints: Hints;
}
/**
 * Which tools.
 */
export interface ToolsSearchParams {
    /**
     * Words that say what a tool should do. Default: all tools, in the order of their servers.
     */
    query?: string;
    /**
     * Only this server's. Default: all.
     */
    server?: ServerName;
    /**
     * How many at most. Default 10.
     */
    limit?: number;
}
/**
 * What was found, the best first.
 */
export interface ToolsSearchResult {
    tools: FoundTool[];
    /**
     * How many tools there are to find.
     */
    searched: number;
}
/**
 * A tool, in short.
 */
export interface FoundTool {
    server: ServerName;
    tool: ToolName;
    /**
     * The first sentence or line of its description.
     */
    summary: VisibleLine;
    /**
     * How its Python wrapper is called, with the classes that its arguments need. Empty where none can be made.
     */
    signature: VisibleText;
}
/**
 * Writes the package of a tool server. With `config`: adds the server first, which for an agent is an action that a user has to allow.
 */
export interface WrappersGenerateParams {
    server: ServerName;
    config?: McpServerConfig;
    /**
     * Folder in which `mcptools` is written. Default: the workspace.
     */
    outDir?: Path;
    /**
     * Default python.
     */
    language?: WrapperLanguage;
    workDoneToken?: RequestId;
}
/**
 * In which the wrappers are written. One folder may hold those of both.
 */
export type WrapperLanguage = "python" | "typescript";
/**
 * What was written, and which tools were left out and why.
 */
export interface WrappersGenerateResult {
    /**
     * Dotted name, such as mcptools.filesystem. In Python it is imported so.
     */
    package: ModuleName;
    modules: WrapperModule[];
    skipped: SkippedTool[];
}
/**
 * A tool, and the module that calls it.
 */
export interface WrapperModule {
    tool: ToolName;
    module: ModuleName;
    /**
     * Absolute.
     */
    path: Path;
}
/**
 * A tool that has no wrapper, and why.
 */
export interface SkippedTool {
    tool: string;
    reason: string;
}
/**
 * A dotted Python name.
 */
export type ModuleName = string;
/**
 * Installs packages for the workspace's kernels; they can be imported at once. Python's by pip, for the kernels that have the session's interpreter; packages of npm (`npm:lodash`) by Deno, for its kernels. Those of one call are of one kind. An action of kind `install`, with the program's exact command. No code of a package runs, unless `allowSourceBuilds`.
 */
export interface PackagesInstallParams {
    /**
     * Whose interpreter, of Python packages. Default: the workspace's default session, which is started if need be.
     */
    sessionId?: ChosenId;
    packages: string[];
    /**
     * Where there is no wheel, build one; run the install scripts of npm's packages. The package's own code runs in the build sandbox then. For users.
     */
    allowSourceBuilds?: boolean;
    workDoneToken?: RequestId;
}
/**
 * A package of npm as Deno imports it, with a version or a range: `npm:lodash`, `npm:@std/yaml@^1`.
 */
export type NpmPackage = string;
/**
 * A package as pip names it: a name, extras, versions. No option, marker, path, URL, or name that pip takes for a file.
 */
export type Requirement = string;
/**
 * A package and where it lies: `name @ https://…` or `name @ git+https://…`.
 */
export type DirectRequirement = string;
/**
 * How pip ended. `failed`: nothing was installed, and what was there before is as it was.
 */
export interface PackagesInstallResult {
    status: InstallStatus;
    /**
     * Of a failure, in one line.
     */
    reason?: string;
    /**
     * With what they need, in the order of their names.
     */
    installed: InstalledPackage[];
    /**
     * The end of what pip printed, its errors last.
     */
    output: string;
    /**
     * Of the build sandbox. Its network is the machine's.
     */
    layers: LayerNames;
}
/**
 * How an install ended.
 */
export type InstallStatus = "ok" | "failed";
/**
 * As its metadata names it.
 */
export interface InstalledPackage {
    name: string;
    version: string;
}
/**
 * Calls a tool directly, through the gate.
 */
export interface ToolsCallParams {
    server: ServerName;
    tool: ToolName;
    arguments: JsonObject;
    /**
     * Count the grants of this session, and show it with the approval.
     */
    sessionId?: ChosenId;
    /**
     * Tells how far the call is, as its MCP server says.
     */
    workDoneToken?: RequestId;
}
/**
 * MCP's result of a tool call. `isError` means that the tool itself says it failed.
 */
export interface CallToolResult {
    content: {
        type: string;
        [k: string]: unknown;
    }[];
    /**
     * Any JSON value.
     */
    structuredContent?: unknown;
    isError?: boolean;
}
/**
 * Without `server`: the kernels of this machine.
 */
export interface KernelListParams {
    /**
     * The kernels of this Jupyter server; its `name` counts for nothing.
     */
    server?: KernelServer;
}
/**
 * Kernels that were found, the preferred first.
 */
export interface KernelListResult {
    kernels: KernelInfo[];
}
/**
 * A kernelspec, or an interpreter that can be a kernel.
 */
export interface KernelInfo {
    /**
     * The kernelspec's name; for an interpreter, how to call it.
     */
    name: string;
    displayName: string;
    language: string;
    /**
     * server: a kernelspec of the Jupyter server that was asked.
     */
    source: "kernelspec" | "interpreter" | "server";
    interpreter?: Path;
    /**
     * Folder of the kernelspec.
     */
    resourceDir?: Path;
    /**
     * Why it cannot be started, with what to do.
     */
    problem?: string;
}
/**
 * A place in code. No sessionId: the default session, which is not started for it.
 */
export interface KernelCompleteParams {
    sessionId?: ChosenId;
    /**
     * At most 1,048,576 characters.
     */
    code: string;
    cursorPos: CodePoints;
}
/**
 * A place in code: how many Unicode code points come before it, as in Jupyter. More than there are: the end.
 */
export type CodePoints = number;
/**
 * Each match would replace the text from cursorStart to cursorEnd. What could not be shown safely on one line is left out.
 */
export interface KernelCompleteResult {
    matches: VisibleLine[];
    /**
     * What each match is, where the kernel tells: function, instance, module, keyword, magic …
     */
    types?: VisibleLine[];
    cursorStart: CodePoints;
    cursorEnd: CodePoints;
}
/**
 * A place in code. No sessionId: the default session, which is not started for it.
 */
export interface KernelInspectParams {
    sessionId?: ChosenId;
    /**
     * At most 1,048,576 characters.
     */
    code: string;
    cursorPos: CodePoints;
    /**
     * 1: with the source, where there is one. Default 0.
     */
    detailLevel?: 0 | 1;
}
/**
 * The kernel's description of the name. The words come from the code that defines it.
 */
export interface KernelInspectResult {
    found: boolean;
    /**
     * Signature, documentation and the like, without colours, at most 64 KiB.
     */
    text?: VisibleText;
}
/**
 * Code to look at, which is not run. It is read by a language's own programs in a sandbox without network.
 */
export interface ValidateParams {
    /**
     * At most 1,048,576 characters.
     */
    code: string;
    /**
     * As kernelspecs spell it. Default: the session's, else python.
     */
    language?: string;
    /**
     * The code of the cells before it, whose names it may use. Those of the session's cells that ran are known too.
     */
    context?: string[];
    /**
     * Whose Python and packages. It is not started for it.
     */
    sessionId?: ChosenId;
    /**
     * Default: the session's. With one, what it does not offer and what is dangerous are errors; without, advice.
     */
    profile?: ProfileName;
    /**
     * The Python modules that the code may import, with those below them, in place of the profile's.
     */
    modules?: string[];
    /**
     * Also look at types, which takes a second. Default true.
     */
    types?: boolean;
}
/**
 * What was found, in the order of the lines.
 */
export interface ValidateResult {
    diagnostics: Diagnostic[];
    /**
     * The programs that read the code.
     */
    checkers: VisibleLine[];
    /**
     * Programs that would find more, each with how to install it.
     */
    missing?: VisibleLine[];
    /**
     * Of Python code that can be read: its cyclomatic complexity, 1 and 1 for each decision.
     */
    complexity?: number;
}
/**
 * A finding in code. Lines and columns are counted from 0; columns are code points; the end is exclusive.
 */
export interface Diagnostic {
    line: Line;
    column: Column;
    endLine: Line;
    endColumn: Column;
    severity: Severity;
    /**
     * `syntax`, `import.not_found`, `attr.dunder`, or the checker's own name for it.
     */
    rule: string;
    message: VisibleLine;
    /**
     * Would mend it. They are for a user or an agent to apply.
     */
    edits?: TextEdit[];
    /**
     * What would mend it, for packages/install.
     */
    install?: string[];
}
/**
 * error: it would not run as meant, or a profile refuses it.
 */
export type Severity = "error" | "warning" | "info";
/**
 * Code points in the line before it.
 */
export type Column = number;
/**
 * Replaces the text between two places.
 */
export interface TextEdit {
    line: Line;
    column: Column;
    endLine: Line;
    endColumn: Column;
    newText: string;
}
/**
 * What sessions can be made here.
 */
export interface RuntimesResult {
    runtimes: Runtime[];
    profiles: Profile[];
    launchers: LauncherInfo[];
}
/**
 * A language, and the kernel that a session of it gets.
 */
export interface Runtime {
    language: VisibleLine;
    /**
     * Its name, as in kernel/list.
     */
    kernel: VisibleLine;
    /**
     * Of the language, where a session of the workspace runs it.
     */
    version?: VisibleLine;
    /**
     * Why it cannot be started, with what to do.
     */
    problem?: VisibleLine;
}
/**
 * A named bundle of settings for sessions. What it offers is advice to those who write code; the sandbox is the boundary.
 */
export interface Profile {
    name: ProfileName;
    description: VisibleLine;
    /**
     * Python modules that its code may import, with those below them. Without: all.
     */
    modules?: VisibleLine[];
    /**
     * Those of `modules` that the workspace's Python does not find.
     */
    notInstalled?: VisibleLine[];
    /**
     * Hosts that its sessions may connect to without asking.
     */
    domains: HostPattern[];
    limits?: Limits;
    /**
     * Each program that code starts in the sandbox is asked about first, as a call of kernel/run_program. In Python and bash; a session of another language cannot have the profile.
     */
    askBeforePrograms?: boolean;
    validation: Validation;
}
/**
 * What is done with the findings before code runs. off: it is not looked at. advise: they are shown. strict: code with an error is refused.
 */
export type Validation = "off" | "advise" | "strict";
/**
 * What makes a sandbox here.
 */
export interface LauncherInfo {
    name: SandboxLauncher;
    /**
     * Why it cannot be used, with what to do.
     */
    problem?: VisibleLine;
}
/**
 * No sessionId: the default session, which is not started for it.
 */
export interface KernelVariablesParams {
    sessionId?: ChosenId;
}
/**
 * What the session's code has given names to, without modules, functions and classes, in the order in which that was. 1025 where the kernel does not tell.
 */
export interface KernelVariablesResult {
    variables: KernelVariable[];
    /**
     * There are more.
     */
    truncated: boolean;
}
/**
 * One of them, as text on a line each.
 */
export interface KernelVariable {
    name: VisibleLine;
    /**
     * The name of its class.
     */
    type: VisibleLine;
    /**
     * As the code would write it, short. Empty where that would take long.
     */
    value: VisibleLine;
    /**
     * Of a collection its length, of an array its shape.
     */
    size?: VisibleLine;
}
