// Every method of the protocol. Made from schemas/ by `schemas/generate.py clients`; a change belongs there.

import type {
    ActionCancelParams,
    ActionDecideParams,
    ActionDecideResult,
    Approval,
    ApprovalElicitParams,
    ApprovalElicitResult,
    ApprovalResolvedParams,
    ApprovalRespondParams,
    CallToolResult,
    CancelRequestParams,
    ChangesFoundParams,
    ChangesListResult,
    ChangesParams,
    ChangesReadParams,
    ChangesReadResult,
    ChangesUndoParams,
    ChangesUndoResult,
    Elicitation,
    ElicitationResolvedParams,
    ElicitationRespondParams,
    Empty,
    EventsSubscribeParams,
    EventsSubscribeResult,
    ExecuteCancelParams,
    ExecuteCancelResult,
    ExecuteChangedParams,
    ExecuteOutputParams,
    ExecuteParams,
    ExecuteProgressParams,
    ExecuteResult,
    ExecutionInfo,
    ExecutionParams,
    InitializeParams,
    InitializeResult,
    InputRequestParams,
    InputRequestResult,
    KernelCompleteParams,
    KernelCompleteResult,
    KernelInspectParams,
    KernelInspectResult,
    KernelListParams,
    KernelListResult,
    KernelVariablesParams,
    KernelVariablesResult,
    LimitsSetParams,
    LimitsSetResult,
    NoParams,
    Null,
    OutputReadParams,
    OutputReadResult,
    PackagesInstallParams,
    PackagesInstallResult,
    PolicyAddParams,
    PolicyDecisionsResult,
    PolicyExplainParams,
    PolicyExplainResult,
    PolicyListResult,
    PolicyParseParams,
    PolicyParseResult,
    PolicyPreviewParams,
    PolicyPreviewResult,
    PolicyRemoveParams,
    PolicySuggestParams,
    ProgressParams,
    RecordEntry,
    RecordQueryParams,
    RecordQueryResult,
    RecordVerifyParams,
    RecordVerifyResult,
    Rule,
    RuntimesResult,
    SecretDeleteParams,
    SecretInfo,
    SecretListResult,
    SecretSetParams,
    SessionAttachResult,
    SessionChangedParams,
    SessionCreateParams,
    SessionInfo,
    SessionListResult,
    SessionParams,
    SessionRestartParams,
    SessionTransferParams,
    SessionTransferResult,
    StatsResult,
    ToolServerInfo,
    ToolServerParams,
    ToolServersAddParams,
    ToolServersListResult,
    ToolServersLogResult,
    ToolServersLoginEndedParams,
    ToolServersLoginResult,
    ToolsCallParams,
    ToolsSearchParams,
    ToolsSearchResult,
    ValidateParams,
    ValidateResult,
    WrappersGenerateParams,
    WrappersGenerateResult,
} from "./messages";

/** What a client asks cellgate. */
export interface Requests {
    /** Opens the conversation; everything before it gets -32002. */
    "initialize": { params: InitializeParams; result: InitializeResult };
    /** Ends the work for this client; only exit may follow. */
    "shutdown": { params: NoParams; result: Null };
    /** Starts a kernel in its sandbox. Answers when it is ready. An agent: at most 8, with ids that begin with "agent-". */
    "session/create": { params: SessionCreateParams; result: SessionInfo };
    /** All sessions of the workspace. */
    "session/list": { params: NoParams; result: SessionListResult };
    /** What runs, waits or has ended in a session; from now on its output comes to this client too. */
    "session/attach": { params: SessionParams; result: SessionAttachResult };
    /** Ends the kernel and starts a new one. An agent: only of a session that it created. */
    "session/restart": { params: SessionRestartParams; result: SessionInfo };
    /** Interrupts what runs; the queue stays. An agent: only its own execution. */
    "session/interrupt": { params: SessionParams; result: Empty };
    /** Ends the kernel and forgets the session. An agent: only one that it created. */
    "session/close": { params: SessionParams; result: Empty };
    /** Copies a variable to another session. An agent: between sessions that it created. */
    "session/transfer": { params: SessionTransferParams; result: SessionTransferResult };
    /** Runs code. Answers when it has finished. An agent: in its own sessions, and in those of users that have a sandbox and no other agent's code. */
    "execute": { params: ExecuteParams; result: ExecuteResult };
    /** Removes or interrupts an execution. An agent: only its own. */
    "execute/cancel": { params: ExecuteCancelParams; result: ExecuteCancelResult };
    /** State and result of an execution. An agent: only its own. */
    "execution/get": { params: ExecutionParams; result: ExecutionInfo };
    /** Output of an execution, from the journal. An agent: only its own. */
    "output/read": { params: OutputReadParams; result: OutputReadResult };
    /** Answers approvals. The first answer wins. */
    "approval/respond": { params: ApprovalRespondParams; result: Empty };
    /** Answers an elicitation. The first answer wins. */
    "elicitation/respond": { params: ElicitationRespondParams; result: Empty };
    /** All rules and grants in force, with their source. */
    "policy/list": { params: NoParams; result: PolicyListResult };
    /** Adds a rule. */
    "policy/add": { params: PolicyAddParams; result: Rule };
    /** Removes a rule or revokes a grant. */
    "policy/remove": { params: PolicyRemoveParams; result: Empty };
    /** Cancels a tool call that was allowed and goes on. */
    "action/cancel": { params: ActionCancelParams; result: Empty };
    /** Decides about an action that the client carries out itself, as about any other: rules, the approval, the record. */
    "action/decide": { params: ActionDecideParams; result: ActionDecideResult };
    /** Entries of the workspace's record. An agent: those of its own executions. */
    "record/query": { params: RecordQueryParams; result: RecordQueryResult };
    /** Whether the record is as it was written. */
    "record/verify": { params: RecordVerifyParams; result: RecordVerifyResult };
    /** Which files of the workspace an execution changed. An agent: one of its own. */
    "changes/list": { params: ChangesParams; result: ChangesListResult };
    /** A file as it was before an execution, or after. */
    "changes/read": { params: ChangesReadParams; result: ChangesReadResult };
    /** Makes the files that an execution changed as they were before it, unless somebody has changed them since. */
    "changes/undo": { params: ChangesUndoParams; result: ChangesUndoResult };
    /** Sends entries of the record as they are written, and older ones first where they are asked for. */
    "events/subscribe": { params: EventsSubscribeParams; result: EventsSubscribeResult };
    /** Ends that. */
    "events/unsubscribe": { params: NoParams; result: Empty };
    /** Figures: executions, calls, approvals; processor time and memory of each session. */
    "stats": { params: NoParams; result: StatsResult };
    /** The decision history: what was decided, asked about or not, and by which rule. */
    "policy/decisions": { params: NoParams; result: PolicyDecisionsResult };
    /** Reads a rule in its short form. Nothing is added. */
    "policy/parse": { params: PolicyParseParams; result: PolicyParseResult };
    /** What a rule would have covered lately. Nothing is added. */
    "policy/preview": { params: PolicyPreviewParams; result: PolicyPreviewResult };
    /** Changes limits of a session. An agent can only lower those of its own. */
    "limits/set": { params: LimitsSetParams; result: LimitsSetResult };
    /** Keeps a secret, or where to get it. */
    "secret/set": { params: SecretSetParams; result: SecretInfo };
    /** The secrets: their names and sources, and who uses them. Never a value. */
    "secret/list": { params: NoParams; result: SecretListResult };
    /** Forgets a secret. Servers that run with it keep it until they end. */
    "secret/delete": { params: SecretDeleteParams; result: Empty };
    /** The narrowest allow rule that covers some past actions. Nothing is added. */
    "policy/suggest": { params: PolicySuggestParams; result: PolicyParseResult };
    /** Why an action would be allowed, asked or denied. */
    "policy/explain": { params: PolicyExplainParams; result: PolicyExplainResult };
    /** Tool servers with their state and tools. */
    "toolServers/list": { params: NoParams; result: ToolServersListResult };
    /** Adds a tool server, or changes its configuration. */
    "toolServers/add": { params: ToolServersAddParams; result: ToolServerInfo };
    /** What a tool server wrote to stderr. */
    "toolServers/log": { params: ToolServerParams; result: ToolServersLogResult };
    /** Ends a tool server and starts it again. */
    "toolServers/restart": { params: ToolServerParams; result: ToolServerInfo };
    /** Ends and forgets a tool server. */
    "toolServers/remove": { params: ToolServerParams; result: Empty };
    /** Begins a login at the authorization server of a tool server. The client opens the page; toolServers/loginEnded says how it ended. */
    "toolServers/login": { params: ToolServerParams; result: ToolServersLoginResult };
    /** Gives up a login that waits. */
    "toolServers/cancelLogin": { params: ToolServerParams; result: Empty };
    /** Forgets the tokens of a tool server, and revokes them where its authorization server takes that. */
    "toolServers/logout": { params: ToolServerParams; result: Empty };
    /** Ranks the tools of servers whose tools are known by words. */
    "tools/search": { params: ToolsSearchParams; result: ToolsSearchResult };
    /** Writes the Python package of a tool server. Starting one that an agent configures asks a user; an agent cannot name settings for its sandbox. */
    "wrappers/generate": { params: WrappersGenerateParams; result: WrappersGenerateResult };
    /** Installs packages of pip or npm for the workspace's kernels, through the gate. */
    "packages/install": { params: PackagesInstallParams; result: PackagesInstallResult };
    /** Calls a tool, through the gate. */
    "tools/call": { params: ToolsCallParams; result: CallToolResult };
    /** Looks at code without running it: syntax, imports, dangerous patterns, types. */
    "validate": { params: ValidateParams; result: ValidateResult };
    /** Languages, profiles and launchers. */
    "runtimes": { params: NoParams; result: RuntimesResult };
    /** Kernels that were found. */
    "kernel/list": { params: KernelListParams; result: KernelListResult };
    /** Completions for a position in code. Answered at once, or 1009 while the kernel has something to run. */
    "kernel/complete": { params: KernelCompleteParams; result: KernelCompleteResult };
    /** What the kernel knows of the name at a place in code. As kernel/complete. */
    "kernel/inspect": { params: KernelInspectParams; result: KernelInspectResult };
    /** The variables of a session's code. As kernel/complete. An agent: those of a session that it created. */
    "kernel/variables": { params: KernelVariablesParams; result: KernelVariablesResult };
}

/** What a client tells cellgate. */
export interface Notifications {
    /** The client is ready for requests and notifications. */
    "initialized": NoParams;
    /** Ends this client. */
    "exit": NoParams;
    /** Gives up a request, which is still answered. */
    "$/cancelRequest": CancelRequestParams;
}

/** What cellgate asks a client. */
export interface ServerRequests {
    /** The code reads a line; asked of the client that ran it. */
    "input/request": { params: InputRequestParams; result: InputRequestResult };
    /** No user is attached: the user of the agent's program is asked about an action of the agent's own. The answer is for exactly this action, once. */
    "approval/elicit": { params: ApprovalElicitParams; result: ApprovalElicitResult };
}

/** What cellgate tells a client. */
export interface ServerNotifications {
    /** Gives up a request, which is still answered. */
    "$/cancelRequest": CancelRequestParams;
    /** Progress of a request that carried a workDoneToken. */
    "$/progress": ProgressParams;
    /** A session has a new status. */
    "session/changed": SessionChangedParams;
    /** An execution was queued, started or finished. */
    "execute/changed": ExecuteChangedParams;
    /** Output of an execution. */
    "execute/output": ExecuteOutputParams;
    /** How far a tool call of an execution is, as its MCP server says. */
    "execute/progress": ExecuteProgressParams;
    /** An action waits for a user. What waits already is announced to a client after `initialized`. */
    "approval/requested": Approval;
    /** An approval was decided. */
    "approval/resolved": ApprovalResolvedParams;
    /** A tool server asks the user something. Sent to clients with the capability elicitation. What waits already is announced after `initialized`. */
    "elicitation/requested": Elicitation;
    /** An elicitation was answered, or is not asked any more. */
    "elicitation/resolved": ElicitationResolvedParams;
    /** An execution has changed files. */
    "changes/found": ChangesFoundParams;
    /** Something happened. */
    "events/entry": RecordEntry;
    /** A login has ended. */
    "toolServers/loginEnded": ToolServersLoginEndedParams;
}
