---@meta
-- Made from schemas/ by `schemas/generate.py clients`; a change belongs there.

--- Id of a JSON-RPC request. An integer and a string are never the same id.
---@alias RequestId integer|string

--- Nothing to say. `params` may be left out altogether.
---@alias NoParams table<string, any>

--- Done; there is nothing to report.
---@alias Empty table<string, any>

--- The result of `shutdown`, as in LSP.
---@alias Null nil

--- A JSON-RPC request. Params are always an object.
---@class RequestMessage
---@field jsonrpc "2.0"
---@field id RequestId
---@field method string
---@field params? table<string, any>

--- A JSON-RPC notification: a request without an id, never answered.
---@class NotificationMessage
---@field jsonrpc "2.0"
---@field method string
---@field params? table<string, any>

--- The answer to a request that succeeded.
---@class ResultMessage
---@field jsonrpc "2.0"
---@field id RequestId
---@field result any

--- The answer to a request that failed. `id` is null when the request's id could not be read.
---@class ErrorMessage
---@field jsonrpc "2.0"
---@field id integer|string|nil
---@field error table<string, any>

--- An error as cellgate sends it. `code` and `data.kind` belong together as errors.json lists them.
---@class ErrorObject
---@field code integer A code of errors.json; never renumbered.
---@field message string What was expected and what was found; for -32602 it names the JSON path. For people.
---@field data table<string, any>

--- An error with which a client answers a request of cellgate. `data` is the client's own.
---@class ClientError
---@field code integer
---@field message string
---@field data? any

--- A URI as the editor writes it, such as file:///home/ada/plan.py.
---@alias Uri string

--- A file system path. A relative one is taken from the workspace.
---@alias Path string

--- A time, RFC 3339 in UTC.
---@alias Time string

--- A duration in seconds.
---@alias Seconds number

--- A size in bytes.
---@alias Bytes integer

--- A line number, counted from 0.
---@alias Line integer

--- An id of a session or an execution; a client may choose it. Letters, digits, dot, dash and underscore, not
--- starting with a dot or a dash, at most 64.
---@alias ChosenId string

--- An id that cellgate made (approvals, rules).
---@alias GivenId string

--- Name of a tool server, as its configuration spells it.
---@alias ServerName string

--- Name of a tool, exactly as its server spells it.
---@alias ToolName string

--- A hash that stands for what something is. For a tool server: of its resolved command, arguments, working directory
--- and names of variables, or of its URL. For a tool: of its definition.
---@alias Identity string

--- One line of text that is safe to show as it is: control, bidirectional and zero-width characters are escaped.
---@alias VisibleLine string

--- Like VisibleLine, over several lines: line feeds and tabs stay.
---@alias VisibleText string

--- Names to strings.
---@alias StringMap table<string, string>

--- A JSON object as it was written: every digit, name and blank, so that no client has to read JSON exactly.
---@alias JsonText string

--- Any JSON object.
---@alias JsonObject table<string, any>

--- What a client may do. It follows from how the client connected, never from what it says.
---@alias Role "user"|"agent"

--- The isolation layers that really hold, such as bwrap, user-namespace, network-namespace, no-new-privileges,
--- landlock, protected-files; exactly ["none"] when none does, and ["unknown"] of a session whose first kernel is
--- starting, and of what an earlier sidecar did not finish.
---@alias LayerNames string[]

--- The first request of every client.
---@class InitializeParams
---@field clientInfo ClientInfo
---@field processId integer|nil Process to watch: when it ends, this client has ended. null: none.
---@field rootUri Uri|nil file: URI of the workspace folder; null: the directory in which cellgate was started.
---@field capabilities ClientCapabilities
---@field initializationOptions? InitializationOptions

--- Who the client is; shown, never trusted.
---@class ClientInfo
---@field name string
---@field version? string

--- What the client can do. What is not named it cannot.
---@class ClientCapabilities
---@field approvals? boolean It can show approvals and answer them. Default false.
---@field input? boolean It answers input/request. Default false.
---@field elicitation? boolean
---@field images? ImageTransport Default inline.

--- How a client takes large display data: in the message, or as a file's path.
---@alias ImageTransport "inline"|"file"

--- Settings that only the user makes: none of them comes from the workspace.
---@class InitializationOptions
---@field lingerSeconds? Seconds
---@field mcpServers? table<string, McpServerConfig>
---@field outputLimitBytes? Bytes
---@field spareKernel? boolean

--- Who answers, in which version, and what the client may do.
---@class InitializeResult
---@field serverInfo ServerInfo
---@field protocolVersion "1"
---@field role Role
---@field capabilities table<string, any>
---@field lost? LostWork[]

--- cellgate and its version.
---@class ServerInfo
---@field name "cellgate"
---@field version string

--- What one sidecar was doing when it ended.
---@class LostWork
---@field endedAt Time The last sign of life.
---@field sessions ChosenId[] Their kernels have ended, and their variables are gone.
---@field executions LostExecution[] That had not finished. Of those that were running, any part may have happened.

--- An execution that will not finish any more.
---@class LostExecution
---@field executionId ChosenId
---@field sessionId ChosenId
---@field state "queued"|"running" At that time.
---@field cell? CellPosition

--- The request to give up. It is still answered: with its result, or with -32800.
---@class CancelRequestParams
---@field id RequestId

--- Progress of a request that carried `workDoneToken`.
---@class ProgressParams
---@field token RequestId
---@field value ProgressValue

--- A step of the work.
---@alias ProgressValue ProgressBegin|ProgressReport|ProgressEnd

--- Work begins.
---@class ProgressBegin
---@field kind "begin"
---@field title string
---@field message? string

--- Work goes on.
---@class ProgressReport
---@field kind "report"
---@field message? string

--- Work has ended.
---@class ProgressEnd
---@field kind "end"
---@field message? string

--- Starts a kernel in its sandbox. Without `kernel`: the first of kernel/list that speaks `language`.
---@class SessionCreateParams
---@field sessionId? ChosenId Default: a new one. `default` is the workspace's default session.
---@field language? string As kernelspecs spell it. Default python.
---@field kernel? KernelChoice
---@field cwd? Path Where the kernel starts. Default: the workspace.
---@field restoreCwd? boolean Go back to `cwd` after every execution. Default false.
---@field env? StringMap Variables for the kernel, beside the clean environment that it gets.
---@field sandbox? SandboxChoice Default true, or what the sidecar was started with.
---@field limits? Limits
---@field profile? ProfileName
---@field toolServers? ServerName[] The only tool servers that code in this session may call. Default: all.
---@field workDoneToken? RequestId

--- true: the sandbox. false: no isolation. An object: the sandbox by another launcher, of an image, with a settings
--- file in srt's format, which adds to what is shown, and hides, or with SandboxAdditions. The last two are a user's
--- to choose.
---@class SandboxChoice
---@field launcher? SandboxLauncher
---@field image? ImageName
---@field configFile? Path
---@field allowRead? SandboxPaths
---@field allowWrite? SandboxPaths
---@field gpu? SandboxGpu

--- bwrap: the default. gvisor: the same with a kernel of its own for the code (runsc), slower. landlock: where user
--- namespaces are refused, a weaker sandbox by Landlock and filters of system calls, without a network;
--- sandboxNotices says what it lacks. It is never taken unasked, and agents run no code in such a session.
---@alias SandboxLauncher "bwrap"|"gvisor"|"landlock"

--- Of a container's image, as podman takes it: a name with or without a tag, or an id.
---@alias ImageName string

--- The image whose files are the system of a session's sandbox.
---@class SessionImage
---@field name ImageName
---@field id string Of the image that had this name when the kernel was started.

--- What isolates a kernel or a tool server.
---@alias SandboxKind "bwrap"|"gvisor"|"landlock"|"none"

--- true: the sandbox. false: no isolation. An object: the sandbox by another launcher, with a settings file in srt's
--- format.
---@class ServerSandboxChoice
---@field launcher? SandboxLauncher bwrap or gvisor.
---@field configFile? Path

--- What a user adds to what a sandbox shows.
---@class SandboxAdditions
---@field allowRead? SandboxPaths Shown, read-only.
---@field allowWrite? SandboxPaths Shown, and writable but for what is guarded.
---@field gpu? SandboxGpu

--- Files and folders: without wildcards, from the workspace if they are relative, `~` is the home. What the settings
--- file denies stays denied.
---@alias SandboxPaths Path[]

--- The devices of graphics cards, for computing. An error where there is none.
---@alias SandboxGpu boolean

--- A kernelspec by name, an interpreter by path, a kernel that already runs by its connection file, or one on a
--- Jupyter server.
---@class KernelChoice
---@field name? string
---@field interpreter? Path
---@field connectionFile? ConnectionFileName
---@field server? KernelServer

--- A Jupyter server (Jupyter Server, JupyterHub's, Kernel Gateway, Enterprise Gateway) that starts the session's
--- kernel on its machine. Such a kernel has no sandbox and no limits, and takes no `env`; `cwd` and its files are
--- that machine's.
---@class KernelServer
---@field url string http or https, without a user, a query or a token: https://example.org/user/me.
---@field token? string
---@field name? string The kernelspec, as the server names it. Default: the server's default one.

--- The connection file of a kernel that already runs, which the session uses and leaves running: an absolute path, a
--- path from the home directory (~/), or a name, a part of a name or a pattern with * and ? in Jupyter's runtime
--- directory, of which the newest file is taken. Empty: the newest one there. Such a kernel has no sandbox and no
--- limits, takes no `env`, and is not restarted.
---@alias ConnectionFileName string

--- Limits for the kernel and what it starts. One that cannot be enforced fails the call with 1005 and nothing starts;
--- an unknown one is refused. Where a control group is available (cellgate doctor says), memoryBytes and processCount
--- also hold for all processes together, and have defaults: three quarters of the machine's memory, and 4096
--- processes; without a group that memory is the limit of each process. An agent's session has at most 8 GB of
--- memory, 3600 s of processor time, 4096 processes and executions of 300 s, also unasked, unless a user set
--- otherwise in agents.json; for more it gets 1024.
---@class Limits
---@field memoryBytes? Bytes
---@field processCount? integer
---@field cpuCores? number
---@field cpuSeconds? Seconds
---@field openFiles? integer Open files of each process; a kernel itself has about 50.
---@field fileSizeBytes? Bytes Size of each file that is written, in the workspace too.
---@field diskBytes? Bytes
---@field wallSeconds? number

--- What the kernel of a session does.
---@alias SessionStatus "starting"|"idle"|"busy"|"restarting"|"dead"

--- What an agent calls itself: at most 40 characters, escaped. Not to be believed.
---@alias AgentName VisibleLine

--- A session as it is now.
---@class SessionInfo
---@field sessionId ChosenId
---@field status SessionStatus
---@field kernel SessionKernel
---@field cwd Path Where the kernel was started; absolute.
---@field sandbox SandboxKind
---@field layers LayerNames
---@field image? SessionImage
---@field profile? ProfileName
---@field sandboxConfig? Path The settings file that the sandbox follows; absolute.
---@field sandboxAdditions? SandboxAdditions
---@field sandboxNotices? VisibleLine[]
---@field executionCount integer Number of the last counted execution; 0 in a fresh kernel.
---@field queueLength integer Executions that wait, without the running one.
---@field limits? Limits Those that were set for it.
---@field createdAt Time
---@field agent? AgentName

--- What runs in a session.
---@class SessionKernel
---@field name string The kernelspec's name, or the interpreter's file name.
---@field interpreter? Path Absent for kernels that no interpreter runs.
---@field connectionFile? Path Of a kernel that already ran when the session began; absolute.
---@field server? VisibleLine The address of the Jupyter server whose kernel it is.
---@field language string
---@field version? string The language's version, once the kernel has told it.

--- All sessions of the workspace, oldest first.
---@class SessionListResult
---@field sessions SessionInfo[]

--- The session that is meant.
---@class SessionParams
---@field sessionId ChosenId

--- All that a client needs to go on with a session that another one, or itself before a reload, has used. From this
--- answer on execute/changed and execute/output of all its executions come to this client, also of those that others
--- start later. execution/get has the result of an ended execution.
---@class SessionAttachResult
---@field session SessionInfo
---@field executions AttachedExecution[]

--- An execution at the moment of the answer.
---@class AttachedExecution
---@field executionId ChosenId
---@field state ExecutionState
---@field position? integer While queued: how many executions of the session come before it now, with the running one.
---@field waitsBehind? integer
---@field nextSeq integer
---@field cell? CellPosition Where the code is in the editor, as execute received it.
---@field agent? AgentName Whose it is. Absent when it is a user's.

--- Copies the value of a variable to another session, of any language that has values of JSON. Both sessions are
--- idle.
---@class SessionTransferParams
---@field from ChosenId
---@field to ChosenId
---@field name VariableName
---@field as? VariableName What it is called there. Default: `name`.

--- What was copied.
---@class SessionTransferResult
---@field type VisibleLine Of the value, as its own language names it.
---@field bytes Bytes Of the value as JSON.

--- A name that a variable can have in every language.
---@alias VariableName string

--- Names a profile.
---@alias ProfileName string

--- The session whose kernel is ended and started again. Queued executions are cancelled.
---@class SessionRestartParams
---@field sessionId ChosenId
---@field sandbox? SandboxAdditions Beside what the session was created with, from now on.
---@field workDoneToken? RequestId

--- A session has a new status. `reason` says why where that is not plain, such as how a kernel died.
---@class SessionChangedParams
---@field sessionId ChosenId
---@field status SessionStatus
---@field reason? string

--- New limits of a session; those that are not named stay. An agent may lower those of its own session.
---@class LimitsSetParams
---@field sessionId ChosenId
---@field limits Limits

--- The limits that are set for the session now. `afterRestart`: those of the call that hold once its kernel has
--- started again; the others hold at once.
---@class LimitsSetResult
---@field limits Limits
---@field afterRestart LimitName[]

--- A field of Limits.
---@alias LimitName
---| "memoryBytes"
---| "processCount"
---| "cpuCores"
---| "cpuSeconds"
---| "openFiles"
---| "fileSizeBytes"
---| "diskBytes"
---| "wallSeconds"

--- Code to run. Executions of a session run one after the other.
---@class ExecuteParams
---@field executionId? ChosenId Default: a new one.
---@field sessionId? ChosenId Default: the workspace's default session, which is started on demand.
---@field code string At most 4,194,304 characters, without U+0000.
---@field cell? CellPosition Where the code is in the editor.
---@field timeoutSeconds? number
---@field approvals? ApprovalMode Default ask.
---@field allowedDomains? HostPattern[]
---@field changes? boolean
---@field silent? boolean Jupyter's: no count, no history, no execute_result. Default false.
---@field storeHistory? boolean Jupyter's. Default true, false when silent.
---@field stopOnError? boolean
---@field workDoneToken? RequestId Tells the start of a kernel, where one is started.

--- ask: a user decides where no rule does. deny: denied where no rule allows. allow: a recorded grant for this
--- execution, which deny rules still beat; refused to agents.
---@alias ApprovalMode "ask"|"deny"|"allow"

--- A document, and the line in it at which the code starts.
---@class CellPosition
---@field uri Uri
---@field line Line

--- How an execution ended. Its output was sent before, or announced as skipped.
---@class ExecuteResult
---@field executionId ChosenId
---@field status ExecutionStatus
---@field reason? string Why it ended so, where status and error do not say it, such as how the kernel died.
---@field executionCount integer|nil The kernel's number for it; null when it has none.
---@field error? ExecutionError
---@field outputBytes Bytes Size of all its output, as JSON.
---@field truncated boolean The journal could not keep all of its output.
---@field outputProblem? string When truncated: why, in words.
---@field durationSeconds Seconds From the start in the kernel to its idle, waiting included; 0 when it never started.
---@field waitedSeconds Seconds Of that, the time in which an approval was pending.
---@field layers LayerNames
---@field notes? Note[] What the sandbox refused. For the user; the code does not see them.

--- timeout: interrupted because its time was over. cancelled: interrupted or removed on request. killed: its kernel
--- was ended or died. oom: it ran out of memory.
---@alias ExecutionStatus "ok"|"error"|"timeout"|"cancelled"|"killed"|"oom"

--- What was refused to an execution, by what, and what would allow it.
---@class Note
---@field text VisibleLine
---@field remedy VisibleLine What a user can do, in words.
---@field rule? RuleSpec The rule that would allow it, for policy/add.
---@field sandbox? SandboxAdditions What would show it, for session/restart.
---@field install? string[] What would install it, for packages/install.
---@field wrappers? string The package whose wrappers were not generated: mcptools, or mcptools.SERVER.

--- The exception that ended an execution.
---@class ExecutionError
---@field ename string
---@field evalue string
---@field traceback string[] Lines as the kernel made them, with ANSI colours.
---@field frames Frame[] Outermost first.

--- One frame of a traceback. In a cell that came with a `cell`, uri and line are the editor's; in one without, uri is
--- absent and the line counts from the start of the code.
---@class Frame
---@field uri? Uri
---@field line Line
---@field function string

--- Where an execution stands.
---@alias ExecutionState "queued"|"running"|"finished"

--- An execution changed its state. `position` counts the executions of the session that come before it, with the
--- running one. It is sent when the execution is queued, and with `waitsBehind` when it begins to wait for its turn;
--- execution/get has the present ones. The message goes to the client that asked for the execution and to those
--- attached to its session; every user receives what an agent runs, with the agent's name, and its output.
---@class ExecuteChangedParams
---@field executionId ChosenId
---@field state ExecutionState
---@field position? integer
---@field waitsBehind? integer
---@field sessionId? ChosenId Of an agent's execution.
---@field agent? AgentName Whose it is. Absent when it is a user's. execution/get has its code.

--- Records `seq` to `seq + count - 1` of an execution's journal: either an output, into which adjacent stream records
--- may have been joined, or `skippedBytes` where the client was too slow, or the output too large for a message:
--- output/read has it.
---@class ExecuteOutputParams
---@field executionId ChosenId
---@field seq integer Number of the first record, from 0 without gaps.
---@field count integer How many records.
---@field output? Output
---@field files? LargeData
---@field skippedBytes? Bytes
---@field late? true It came after the reply to `execute`, for instance from a thread.

--- The last word of an MCP server on a call that the execution waits for. Without `message`: the call has ended.
---@class ExecuteProgressParams
---@field executionId ChosenId
---@field server ServerName
---@field tool ToolName
---@field message? string In one line: `2 of 5: reading`.

--- Display data over 256 KiB, kept in files for clients that asked for that, and over 16 MiB for all. The files are
--- removed with the journal. This field is outside the output, which the kernel wrote and could forge; `data` then
--- lacks these types.
---@alias LargeData LargeDatum[]

--- Display data of one type, in a file.
---@class LargeDatum
---@field mime string
---@field bytes Bytes
---@field path Path

--- An output as nbformat 4 writes it, or one of Jupyter's two messages that change earlier ones.
---@alias Output StreamOutput|DisplayDataOutput|ExecuteResultOutput|ErrorOutput|UpdateDisplayDataOutput|ClearOutput

--- Text that was printed; one record holds at most 256 KiB.
---@class StreamOutput
---@field output_type "stream"
---@field name "stdout"|"stderr"
---@field text string

--- MIME types to content: text, base64 for binary types, any JSON for JSON types.
---@alias MimeBundle table<string, any>

--- Something to show. With `transient.display_id`, later updates may replace it.
---@class DisplayDataOutput
---@field output_type "display_data"
---@field data MimeBundle
---@field metadata JsonObject
---@field transient? JsonObject

--- The value of the last expression.
---@class ExecuteResultOutput
---@field output_type "execute_result"
---@field execution_count integer|nil
---@field data MimeBundle
---@field metadata JsonObject

--- An exception, as the kernel shows it. The middle of a very long one is cut, and says so.
---@class ErrorOutput
---@field output_type "error"
---@field ename string
---@field evalue string
---@field traceback string[]

--- New content for every display with that `transient.display_id`.
---@class UpdateDisplayDataOutput
---@field output_type "update_display_data"
---@field data MimeBundle
---@field metadata JsonObject
---@field transient table<string, any>

--- Remove the outputs so far: now, or (`wait`) when the next one comes.
---@class ClearOutput
---@field output_type "clear_output"
---@field wait boolean

--- Queued: removed. Running: interrupted; `force` kills and restarts the kernel if it does not stop.
---@class ExecuteCancelParams
---@field executionId ChosenId
---@field graceSeconds? Seconds How long to wait for it to stop. Default 5.
---@field force? boolean Default false.

--- `kernelBusy`: after the grace it still runs.
---@class ExecuteCancelResult
---@field kernelBusy boolean

--- The execution that is meant.
---@class ExecutionParams
---@field executionId ChosenId

--- Where an execution stands; its result once it has finished.
---@class ExecutionInfo
---@field executionId ChosenId
---@field sessionId ChosenId
---@field state ExecutionState
---@field position? integer While queued: how many executions of the session come before it now, with the running one.
---@field waitsBehind? integer
---@field code? string As execute was given it. Absent of what an earlier sidecar ran.
---@field agent? AgentName Whose it is. Absent when it is a user's.
---@field pendingApprovals? integer How many of its actions wait for a user now. Absent when none does.
---@field durationSeconds? Seconds While it runs: since its start in the kernel, waiting included.
---@field result? ExecuteResult

--- Reads the journal of an execution, running or finished.
---@class OutputReadParams
---@field executionId ChosenId
---@field fromSeq? integer First record. Default 0.
---@field maxBytes? Bytes

--- Records in order. `nextSeq` is the `fromSeq` of the next call.
---@class OutputReadResult
---@field records OutputRecord[]
---@field nextSeq integer
---@field complete boolean The execution has finished and nothing follows `nextSeq`.
---@field droppedBytes Bytes What the journal could not keep of this execution.
---@field problem? string Why something was dropped or skipped, in words.

--- Like execute/output, without the execution's id. A record with `skippedBytes` takes the place of records that the
--- journal dropped or could not read.
---@class OutputRecord
---@field seq integer
---@field count integer
---@field output? Output
---@field files? LargeData
---@field skippedBytes? Bytes
---@field late? true

--- The code reads from standard input.
---@class InputRequestParams
---@field executionId ChosenId
---@field prompt string The code's words; at most 16 KiB, the middle of longer ones is cut.
---@field password boolean Do not show what is typed.

--- What was typed, without the line end. An error instead of a result is end of file to the code.
---@class InputRequestResult
---@field value string

--- One thing that needs permission, with its exact payload. `tool`: a call of an MCP tool. `host`: a call of the
--- built-in server. `server`: starting a tool server, or using one at a URL. network: a connection, of a cell's or of
--- the tool server `server`. `request`: one of HTTP to a host whose requests are judged one by one. install: of
--- packages. output: text of an agent's execution, on its way to the agent.
---@class Action
---@field kind ActionKind
---@field server? ServerName
---@field tool? ToolName
---@field argumentsText? JsonText As the code sent them.
---@field command? Argv
---@field cwd? Path
---@field environmentNames? string[]
---@field environment? table<string, string>
---@field url? string Of a tool server that runs elsewhere, as it is written: nothing is put in for ${VAR}.
---@field headerNames? string[]
---@field headers? table<string, string> Of these, what a file of the workspace says, as it is written there.
---@field sandbox? boolean
---@field sandboxLauncher? SandboxLauncher Of a tool server in the sandbox: what makes it. Absent: bwrap.
---@field sandboxConfig? Path Of a tool server in the sandbox: the settings file by which it runs there.
---@field sandboxSettingsText? JsonText What that file says, as it is written.
---@field folders? Path[]
---@field host? string Host name or address.
---@field port? integer
---@field protocol? NetworkProtocol
---@field tls? boolean Of a request: it goes over TLS, to a server whose certificate was verified.
---@field method? HttpMethod GET, POST … WEBSOCKET: the opening of a WebSocket, over which all that follows is not seen.
---@field path? string Of the request's URL, as it was sent.
---@field query? string What follows the first ? in the URL.
---@field requestHeaders? string[]
---@field secrets? SecretName[] What cellgate puts into the request once it is allowed. Never a value.
---@field bodyBytes? integer Absent: the request has no body, or one whose length is known only at its end.
---@field bodySha256? string Of a body that is no text, in hex. Absent where it is larger than 8 MiB, too.
---@field body? string The body, where it is text of at most 8 MiB.
---@field outputText? string What the agent gets.
---@field results? string[] Of which tools ("server/tool") the session has results that a user wants to see first.
---@field program? string
---@field serverIdentity? Identity Which server exactly; a grant binds it.
---@field toolIdentity? Identity Which definition of the tool exactly; a grant binds it.

--- What kind of thing needs permission.
---@alias ActionKind "tool"|"host"|"server"|"network"|"request"|"install"|"output"

--- A program and its arguments, resolved; no shell reads it.
---@alias Argv string[]

--- What a rule does, or a decision says. inspect: it decides nothing; the requests to its host are judged one by one.
--- review: it decides nothing; what an agent gets of a session that has results of its tools waits for a user.
---@alias Effect "allow"|"ask"|"deny"|"inspect"|"review"

--- raw: bytes of any kind, which cellgate cannot judge.
---@alias NetworkProtocol "raw"

--- touch: a signature by a security key that was touched for it.
---@alias ConfirmationMeans "touch"

--- A user's confirmation of an answer, in the format of OpenSSH: `ssh-keygen -Y check-novalidate -n cellgate -s
--- SIGNATURE < TEXT` checks it.
---@class Confirmation
---@field means ConfirmationMeans
---@field text string What was signed: the answer, and hashes of the action and of what was shown.
---@field publicKey string As a line of authorized_keys, without its comment.
---@field signature string

--- In capitals, as RFC 9110 has them.
---@alias HttpMethod string

--- Where in a request a secret goes.
---@alias InjectionAs "bearer"|"basic"|"header"|"query"|"aws"

--- A secret that cellgate puts into requests once they are allowed, over verified TLS alone. The code does not see
--- it: a response that has the value has its name in its place. bearer: `authorization: Bearer VALUE`. basic: the
--- value is USER:PASSWORD. header, query: the field or the parameter `name`, in place of what the code sent. aws: the
--- value is ACCESSKEYID:SECRETKEY, or with :SESSIONTOKEN behind it; the request, which the code signed with
--- placeholders in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, is signed again (Signature Version 4).
---@class Injection
---@field as InjectionAs
---@field name? string
---@field value string With at least one ${secret:NAME}.
---@field variable? SecretName In which code that starts later finds a placeholder, for programs that want a token.

--- How an action was decided.
---@alias Verdict "allow"|"deny"

--- How long an answer holds: this call; while this execution runs; while this session lives; in this workspace;
--- always.
---@alias Scope "once"|"execution"|"session"|"workspace"|"always"

--- What an argument has to be. equals: this JSON value. glob: a string that the pattern covers; * stops at /, ** does
--- not. under: a path in this folder, after resolving . and .. and links; a relative one is taken from the workspace.
--- in: one of these JSON values. lessThan: a number that is less.
---@class Matcher
---@field equals? any
---@field glob? string
---@field under? Path
---@field in? any[]
---@field lessThan? number

--- JSON pointers into the arguments, or into the body of a request that is JSON, to what each has to match. All have
--- to. A value that is not there matches nothing; "" is the whole.
---@alias ArgumentMatchers table<string, Matcher>

--- A rule as one is written. An absent field matches all. Unknown fields are refused: a condition that is ignored
--- would widen the rule. An allow rule names at least a kind.
---@class RuleSpec
---@field effect Effect
---@field kind? ActionKind
---@field server? ServerName
---@field tool? ToolName
---@field arguments? ArgumentMatchers
---@field host? HostPattern
---@field methods? HttpMethod[] Of requests: these alone.
---@field paths? string[]
---@field inject? Injection Of an inspect rule: what is put into the requests that it covers.
---@field openapi? Path
---@field protocol? NetworkProtocol
---@field confirm? ConfirmationMeans Of an ask rule: a yes has to be confirmed so.
---@field expiresAt? Time
---@field uses? integer Of an allow rule: how many actions it still allows.
---@field tests? RuleTests

--- Arguments of actions that a rule has to match, and that it must not. With one that comes out otherwise the rule is
--- refused when it is added. Where one comes out otherwise later, an allow rule does not apply and any other does;
--- the question, the reason and the log say so.
---@class RuleTests
---@field match? TestArguments
---@field noMatch? TestArguments

--- Each as a call has them.
---@alias TestArguments JsonObject[]

--- A host of the network: a name (example.org), the names below one (*.example.org), or an address (192.0.2.1,
--- [2001:db8::1]); with :443, at this port alone. In ASCII; case does not matter. No pattern covers a whole top-level
--- domain.
---@alias HostPattern string

--- Where a rule comes from. default: built in. user: a tool server that a user gave may start. commandLine: --allow.
--- execution, session: answers that live in memory. workspaceStore: kept for this workspace. userStore: kept for
--- every workspace.
---@alias RuleSource "default"|"user"|"commandLine"|"execution"|"session"|"workspaceStore"|"userStore"

--- A rule in force: what was written, and where it comes from.
---@class Rule
---@field id GivenId
---@field effect Effect
---@field kind? ActionKind
---@field server? ServerName
---@field tool? ToolName
---@field arguments? ArgumentMatchers
---@field host? HostPattern
---@field methods? HttpMethod[] Of requests: these alone.
---@field paths? string[]
---@field inject? Injection Of an inspect rule: what is put into the requests that it covers.
---@field openapi? Path
---@field protocol? NetworkProtocol
---@field confirm? ConfirmationMeans Of an ask rule: a yes has to be confirmed so.
---@field payloadHash? string sha256 in hex of the one payload that this grant covers.
---@field serverIdentity? Identity The grant covers this server alone.
---@field toolIdentity? Identity The grant covers this definition of the tool alone.
---@field source RuleSource
---@field sessionId? ChosenId With source session or execution: whose.
---@field executionId? ChosenId With source execution: whose.
---@field createdAt? Time
---@field expiresAt? Time
---@field uses? integer Of an allow rule: how many actions it still allows.
---@field tests? RuleTests

--- The source line that makes the call. The text comes from cellgate's record of the cell; which line it is, the code
--- itself reported. Absent when it reported none.
---@class Origin
---@field uri? Uri The cell's document, if `execute` named one.
---@field line Line In that document; without one, in the code.
---@field text VisibleLine
---@field reportedBy "code"

--- What the tool server says about its tool. Hints: nothing is decided by them.
---@class Hints
---@field title? VisibleLine
---@field description? VisibleText
---@field readOnlyHint? boolean
---@field destructiveHint? boolean
---@field idempotentHint? boolean
---@field openWorldHint? boolean

--- An answer that is offered: `label` says in words what it covers. Without `rule`: exactly this payload.
---@class Choice
---@field label VisibleLine
---@field scope Scope
---@field rule? RuleSpec

--- An action that waits for a user. `display` shows the whole payload and is what to show; `choices` begin with the
--- narrowest.
---@class Approval
---@field approvalId GivenId
---@field action Action
---@field sessionId? ChosenId Absent when no session is behind it.
---@field executionId? ChosenId What runs in that session, by cellgate's own record. Absent when nothing does.
---@field agent? AgentName On whose behalf. Absent when it is a user's.
---@field origin? Origin
---@field hints Hints
---@field display VisibleLine[]
---@field definitionChanges? VisibleLine[]
---@field editText? VisibleText
---@field choices Choice[]
---@field confirm? ConfirmationMeans
---@field createdAt Time

--- An answer to one or more approvals: all of them are answered, or none.
---@class ApprovalRespondParams
---@field approvalIds GivenId[]
---@field decision Verdict
---@field scope? Scope Default once.
---@field rule? RuleSpec
---@field argumentsText? JsonText `editText` as a user edited it; run in place of what was shown. Only for one approval.
---@field reason? string Told to the code when it is denied.
---@field unattended? true

--- Who decided. elicitation: the user of the agent's own program, while no user was attached.
---@alias DecidedBy "user"|"rule"|"cancelled"|"noClient"|"elicitation"

--- An approval was decided, by whomever. By a rule: one that an answer to another approval made.
---@class ApprovalResolvedParams
---@field approvalId GivenId
---@field decision Verdict
---@field by DecidedBy
---@field ruleId? GivenId The rule that decided, or that the answer made.
---@field reason? string

--- How a user refused a question: by a no, by closing it, or by accepting it without the tick that allows the action.
---@alias Refusal "declined"|"cancelled"|"notTicked"

--- An action of this agent's own that waits. `display` shows the whole payload.
---@class ApprovalElicitParams
---@field executionId? ChosenId The agent's execution that makes it. Absent when none does.
---@field origin? Origin
---@field display VisibleLine[]
---@field untilCellEnds boolean Whether an answer may hold for this exact action until the execution ends.

--- The answer. Without `scope` it is for this action once; it is never more than a grant of the execution. `how` says
--- what a denial was.
---@class ApprovalElicitResult
---@field decision Verdict
---@field scope? "once"|"execution"
---@field how? Refusal

--- A question to the user. With `tool`, it is the tool server's, while a call of that tool waits for the answer: its
--- words are the server's, and not to be believed. Without, it is for the inputs of the server's configuration,
--- before it starts. form: `fields`. url: a page that the user opens in a browser, if at all; what is typed there
--- cellgate never sees.
---@class Elicitation
---@field elicitationId GivenId
---@field server ServerName
---@field tool? ToolName The tool whose call waits.
---@field sessionId? ChosenId Absent when no session is behind the call.
---@field executionId? ChosenId What runs in that session. Absent when nothing does.
---@field agent? AgentName On whose behalf the tool is called. Absent when it is a user's.
---@field origin? Origin
---@field message VisibleText What the server asks.
---@field mode ElicitationMode
---@field fields? ElicitationField[] Of a form, in order. Empty: only a yes or a no is asked for.
---@field url? VisibleLine The page, http or https.
---@field host? VisibleLine
---@field createdAt Time

--- What the user is asked to do: to fill in a form, or to open a page.
---@alias ElicitationMode "form"|"url"

--- A field of a form. `initial`: what it holds beforehand, of the type of its value. Bounds are of a text's
--- characters, a number, or the number of choices.
---@class ElicitationField
---@field name string Its member of `values`.
---@field title VisibleLine
---@field description? VisibleText
---@field type ElicitationFieldType
---@field required boolean
---@field format? ElicitationFormat Of a text.
---@field secret? boolean Of a text of a configuration: it is typed unseen, and kept nowhere by a client.
---@field minimum? number
---@field maximum? number
---@field options? ElicitationOption[] Of choice and choices.
---@field initial? any

--- What its value is: a string, a number, a whole number, true or false, the value of one option, or a list of values
--- of options.
---@alias ElicitationFieldType "text"|"number"|"integer"|"boolean"|"choice"|"choices"

--- What a text has to be.
---@alias ElicitationFormat "email"|"uri"|"date"|"date-time"

--- One of the values that can be chosen, and what to show for it.
---@class ElicitationOption
---@field value string
---@field title VisibleLine

--- accept: `values` are sent, or the page was opened. decline: a no. cancel: closed without an answer.
---@alias ElicitationAction "accept"|"decline"|"cancel"

--- The user's answer. One whose `values` do not fit the form changes nothing (1027, with the field), and the
--- elicitation still waits.
---@class ElicitationRespondParams
---@field elicitationId GivenId
---@field action ElicitationAction
---@field values? JsonObject By the fields' names, for accept of a form. A field that is left empty is left out.

--- An elicitation does not wait any more: a user answered it, or the call that it was for has ended (by cancelled,
--- with cancel).
---@class ElicitationResolvedParams
---@field elicitationId GivenId
---@field action ElicitationAction
---@field by "user"|"cancelled"

--- All rules and grants in force.
---@class PolicyListResult
---@field rules Rule[]

--- Adds a rule for a session, for this workspace, or always. For a session, `sessionId` says for which.
---@class PolicyAddParams
---@field rule RuleSpec
---@field scope "session"|"workspace"|"always"
---@field sessionId? ChosenId

--- Removes a rule or revokes a grant. Built-in rules stay.
---@class PolicyRemoveParams
---@field ruleId GivenId

--- An action that this client will carry out itself, outside of cellgate: nothing runs here. Of kind `tool`, with
--- `cwd` and as `server` the name under which rules have the client's tools; or of kind `request`. Identities,
--- secrets and the server of a request are cellgate's to say.
---@class ActionDecideParams
---@field action Action
---@field clientSession? ChosenId

--- ask: no rule decides, and no user is connected who can: the client asks its own user.
---@alias ClientVerdict "allow"|"ask"|"deny"

--- The decision about an action of the client's own.
---@class ActionDecideResult
---@field decision ClientVerdict
---@field by DecidedBy
---@field reason VisibleLine

--- How an action ended that was allowed. cancelled: it was given up, or never ran. unknown: the client that asked
--- carries it out itself.
---@alias OutcomeStatus "succeeded"|"failed"|"cancelled"|"unknown"

--- What became of an action that was allowed.
---@class Outcome
---@field status OutcomeStatus
---@field endedAt Time
---@field error? VisibleLine Why it failed, in the words of what failed.
---@field bytesSent? integer By a connection.
---@field bytesReceived? integer By a connection.

--- The gate's decision about an action, whether a user was asked or not.
---@class PastDecision
---@field number integer Counts all decisions since cellgate began.
---@field decidedAt Time
---@field decision Verdict
---@field by DecidedBy
---@field rule? Rule The rule that decided, or that the answer made, as it was then.
---@field reason VisibleLine
---@field action? Action As it was asked, or as a user edited it. Absent when its payload was too large to keep.
---@field edited? true A user changed the arguments.
---@field display VisibleLine[] The action as a user reads it. Without `action`: only what kind of one it was.
---@field approvalId? GivenId Of what a user was asked about.
---@field confirmation? Confirmation
---@field sessionId? ChosenId
---@field executionId? ChosenId
---@field agent? AgentName
---@field origin? Origin
---@field outcome? Outcome Of an action that was allowed, once it has ended.
---@field cancellable? true A tool call that goes on: action/cancel ends it.

--- Cancels a tool call that was allowed and goes on, perhaps longer than the cell that made it. The code gets an
--- error.
---@class ActionCancelParams
---@field number integer Of the decision that allowed it.

--- Something that happened. The record's own text of an entry is RFC 8785's canonical form of this object.
---@class RecordEntry
---@field seq integer Counts from 0 without gaps.
---@field time Time
---@field type string
---@field actor string Who did it: user, agent, rule, or cellgate itself.
---@field sessionId? ChosenId
---@field executionId? ChosenId
---@field data JsonObject

--- All conditions hold of an entry. Newest first.
---@class RecordQueryParams
---@field since? Time Not before it.
---@field until? Time Before it.
---@field types? string[]
---@field sessionId? ChosenId
---@field executionId? ChosenId
---@field text? string Anywhere in the entry, in upper or lower case.
---@field beforeSeq? integer For the next page: the last `seq` of this one.
---@field limit? integer At most so many. Default 100.

--- Entries, newest first, 8 MiB of them at most.
---@class RecordQueryResult
---@field entries RecordEntry[]
---@field more boolean Older ones meet the conditions, too.
---@field problem? VisibleLine Why entries are not kept now.

--- Checks every entry against the record's tree of hashes, and that against its signed checkpoints.
---@class RecordVerifyParams
---@field checkpoint? string

--- Whether the record is as it was written.
---@class RecordVerifyResult
---@field ok boolean
---@field entries integer How many there are, with those that were pruned.
---@field firstBadSeq? integer The first entry that was changed, removed, added or moved.
---@field problem? VisibleLine What is wrong.
---@field checkpoint? string The newest, as text (C2SP tlog-checkpoint).

--- Whose changes: of an execution, or of an undo by its `undoId`.
---@class ChangesParams
---@field executionId ChosenId

--- A file that was renamed is a deleted and a created one.
---@alias ChangeKind "created"|"modified"|"deleted"

--- A file at one time.
---@class FileVersion
---@field sha256 string Of its content, or of a symbolic link's target.
---@field bytes Bytes
---@field mode string Permission bits, in octal.
---@field link? true It is a symbolic link.

--- A file of the workspace that is not as it was.
---@class ChangedFile
---@field path WorkspacePath
---@field kind ChangeKind
---@field before? FileVersion
---@field after? FileVersion

--- A file of the workspace, relative to it. Its name may have any character but U+0000.
---@alias WorkspacePath string

--- Why a file, or one place, is left out.
---@class PathProblem
---@field path VisibleLine Relative to the workspace; empty for all of it.
---@field why VisibleLine

--- Which files of the workspace were changed while it ran, by it or by others. The changes of an execution that runs,
--- or whose files are not compared yet, are waited for.
---@class ChangesListResult
---@field executionId ChosenId
---@field files ChangedFile[] By path. At most 10,000.
---@field count? integer How many files there are, when these are not all.
---@field complete boolean No file of the workspace was left out, but those that .gitignore names.
---@field notCovered? PathProblem[] When not complete: what was left out, the first 100. Undo does not touch it.
---@field overlapping? ChosenId[] Executions that ran meanwhile: the changes may be theirs.
---@field undoneBy? ChosenId The newest undo of it.

--- Before the execution, or after it.
---@alias ChangeSide "before"|"after"

--- A file as it was before an execution, or after.
---@class ChangesReadParams
---@field executionId ChosenId
---@field path WorkspacePath
---@field side ChangeSide

--- Its content, or a symbolic link's target; at most 8 MiB.
---@class ChangesReadResult
---@field text? string When it is UTF-8 without U+0000.
---@field base64? string When it is not.

--- Makes files as they were before the execution: content, mode, and whether there is one.
---@class ChangesUndoParams
---@field executionId ChosenId
---@field paths? WorkspacePath[] Only these. Default: all that changed.

--- What an undo did: all of it, or nothing.
---@class ChangesUndoResult
---@field undoId? ChosenId
---@field restored WorkspacePath[]
---@field refused PathProblem[] Files that are not as the execution left them, so nothing was changed.

--- An execution whose changes are kept, or an undo, has changed files of the workspace. Sent to users after its
--- result; not when it changed none.
---@class ChangesFoundParams
---@field executionId ChosenId
---@field sessionId? ChosenId
---@field agent? AgentName
---@field files integer How many.
---@field complete boolean
---@field undoOf? ChosenId The execution that an undo undid.

--- Entries of the record as they are written. One subscription for a client; another one replaces it.
---@class EventsSubscribeParams
---@field types? string[] Default: all.
---@field sessionId? ChosenId
---@field fromSeq? integer Begin with this entry. Default: the next one. An entry that is not kept any more is skipped.

--- Where the subscription begins.
---@class EventsSubscribeResult
---@field fromSeq integer More than the one that was asked for, when older entries are not kept any more.

--- Figures of this cellgate, since it began.
---@class StatsResult
---@field startedAt Time
---@field memoryBytes Bytes Of this process.
---@field executions ExecutionCounts
---@field toolCalls Latencies
---@field approvals Latencies Their seconds: how long they waited for the answer.
---@field pendingApprovals integer
---@field sessions SessionStats[]
---@field spareKernel? SpareKernelStats Absent while none is ready.

--- Figures of the kernel that is kept ready for the next session.
---@class SpareKernelStats
---@field processes integer
---@field processorSeconds Seconds
---@field memoryBytes Bytes As that of a session.

--- How many are in each state now, and how many have ended.
---@class ExecutionCounts
---@field queued integer
---@field running integer
---@field finished integer

--- How long something took: of the last 1,000, where there were any.
---@class Latencies
---@field count integer Of all.
---@field p50Seconds? Seconds
---@field p95Seconds? Seconds

--- Figures of a session. Those of its processes are absent while its kernel does not run.
---@class SessionStats
---@field sessionId ChosenId
---@field agent? AgentName
---@field status SessionStatus
---@field queueLength integer
---@field processes? integer
---@field processorSeconds? Seconds Of its present kernel, with the processes that it started.
---@field memoryBytes? Bytes

--- The decision history, newest first: the last 100 answers of users, and the last 200 other decisions, or 8 MiB of
--- them. They are kept as long as cellgate runs.
---@class PolicyDecisionsResult
---@field decisions PastDecision[]
---@field forgotten integer How many more there were.

--- A rule in its short form: allow, ask or deny, and what, as `cellgate policy` takes it: "deny filesystem/write_file
--- path=under:data", "allow network example.org".
---@class PolicyParseParams
---@field text string

--- The rule, and what it says.
---@class PolicyParseResult
---@field rule RuleSpec
---@field words VisibleLine

--- A rule that may be added.
---@class PolicyPreviewParams
---@field rule RuleSpec

--- What the rule covers of the actions that the record has of the last 30 days. An action whose payload the record
--- does not have whole is not looked at.
---@class PolicyPreviewResult
---@field since Time
---@field allowed integer Of those that it covers, how many were allowed.
---@field denied integer By a user or a rule: what no user was there to decide, or was withdrawn, is not counted.
---@field example? RecordEntry The newest whose decision the rule would have changed, else the newest.

--- Entries of the record, of type action.decided.
---@class PolicySuggestParams
---@field seqs integer[]

--- What would happen to this action now, with nothing being asked or done.
---@class PolicyExplainParams
---@field action Action
---@field sessionId? ChosenId Count the grants of this session.
---@field executionId? ChosenId Count the grants of this execution.

--- What would happen, by which rule, in words. Without `rule`: none matches.
---@class PolicyExplainResult
---@field effect Effect
---@field rule? Rule
---@field reason string

--- What a secret is called: in ${secret:NAME}, and in CELLGATE_SECRET_NAME of the environment.
---@alias SecretName string

--- user: for all workspaces of this user. workspace: for this one, where it hides a user's one of the same name.
--- session: for what runs in one session, where it hides both; it is never on the disk and ends with the session.
---@alias SecretScope "user"|"workspace"|"session"

--- Where the value is. stored: with cellgate, encrypted. command: a program prints it. file: in a file of NAME=value
--- lines. environment: in CELLGATE_SECRET_NAME, where cellgate was started.
---@alias SecretSource "stored"|"command"|"file"|"environment"

--- Keeps a secret, in the place of what had the name: one of `value`, `command` and `file`.
---@class SecretSetParams
---@field name SecretName
---@field scope? SecretScope Default user.
---@field sessionId? ChosenId With scope session: which.
---@field value? string
---@field command? string[]
---@field file? Path Read when the secret is needed.

--- A secret without its value, which no message ever has.
---@class SecretInfo
---@field name SecretName
---@field scope SecretScope
---@field sessionId? ChosenId With scope session: which.
---@field source SecretSource
---@field from? VisibleLine The command, or the file.
---@field usedBy ServerName[] The tool servers whose configuration names it.
---@field setAt? Time
---@field lastUsedAt? Time In the last 30 days.

--- By name; of those that have one, the workspace's first.
---@class SecretListResult
---@field secrets SecretInfo[]

--- The secret to forget.
---@class SecretDeleteParams
---@field name SecretName
---@field scope? SecretScope Default user.
---@field sessionId? ChosenId With scope session: which.

--- How to reach an MCP server, in the form that `mcpServers` of MCP clients and `servers` of VS Code share: a command
--- to start, or a URL; or a server that is part of cellgate. Only one of these.
---@alias McpServerConfig StdioServerConfig|HttpServerConfig|BuiltInServerConfig

--- A program that speaks MCP on stdio. ${VAR}, ${VAR:-default}, ${secret:NAME} and ${workspaceFolder} expand after
--- the yes.
---@class StdioServerConfig
---@field type? "stdio"
---@field command string
---@field args? string[]
---@field env? StringMap
---@field cwd? Path Default: the workspace.
---@field roots? ServerRoots
---@field inputs? ServerInputs
---@field sandbox? ServerSandboxChoice
---@field builtin? any

--- A server at a URL.
---@class HttpServerConfig
---@field type? "http"|"sse"|"streamable-http"|"streamableHttp"
---@field url string
---@field headers? StringMap
---@field oauth? OAuthConfig
---@field roots? ServerRoots
---@field inputs? ServerInputs
---@field sandbox? any
---@field builtin? any

--- A server that comes with cellgate, and runs in the sandbox: `web` fetches pages, opens them in Chromium, and
--- searches through the SearXNG instance of the variable SEARXNG_URL.
---@class BuiltInServerConfig
---@field builtin "web"
---@field env? StringMap
---@field inputs? ServerInputs
---@field sandbox? any

--- Whether a server that asks for MCP's roots is given the workspace. Default: true. With roots, some servers
--- (server-filesystem) leave the folders of their own arguments out of account.
---@alias ServerRoots boolean

--- What ${input:ID} in the texts of the configuration stands for. The user is asked before the server starts, once
--- for as long as the sidecar runs; answers are never stored. In a file they are beside `servers`, as VS Code has
--- them.
---@alias ServerInputs ServerInput[]

--- One value that a user types or picks. Of type command, which only VS Code can run, a server that needs it cannot
--- start.
---@class ServerInput
---@field type ServerInputType
---@field id string
---@field description? string
---@field default? string
---@field password? boolean Of promptString: it is typed unseen.
---@field options? string[] Of pickString, which needs them.

--- How a value is asked for.
---@alias ServerInputType "promptString"|"pickString"|"command"

--- How cellgate is known to the authorization server of a tool server, for those where it cannot register itself.
--- Variables expand as in headers.
---@class OAuthConfig
---@field clientId? string The id under which cellgate was registered, or the URL of its metadata document.
---@field clientSecret? string
---@field grantType? OAuthGrantType
---@field scopes? string[] To ask for. Default: those that the server names.
---@field callbackPort? integer Of the redirect to 127.0.0.1. Default: one that is chosen at the first login, and kept.

--- How an access token is obtained.
---@alias OAuthGrantType "authorization_code"|"client_credentials"

--- The tool server that is meant.
---@class ToolServerParams
---@field server ServerName

--- A tool server by a user's word. It starts when it is first needed.
---@class ToolServersAddParams
---@field server ServerName
---@field config McpServerConfig

--- All tool servers that are known, by name.
---@class ToolServersListResult
---@field servers ToolServerInfo[]

--- What a tool server wrote to stderr since it was last started: the last 64 KiB. Empty when it never was.
---@class ToolServersLogResult
---@field text VisibleText

--- A tool server as it is now.
---@class ToolServerInfo
---@field name ServerName
---@field state ToolServerState
---@field source ToolServerSource
---@field file? Path The file that names it.
---@field identity Identity
---@field command? Argv Told to users only: its arguments may hold a secret.
---@field url? string Told to users only.
---@field transport? ToolServerTransport How it is reached. Absent of one that is part of cellgate.
---@field authorization? ToolServerAuthorization Of a server at a URL.
---@field tools? ToolInfo[] Known once it has run.
---@field error? VisibleText Why it failed, with the end of its stderr.
---@field sandbox? "bwrap"|"gvisor"|"none" Of one that is started by a command.
---@field sandboxConfig? Path The settings file that its sandbox follows. Told to users only.
---@field layers? string[] Of one that runs in the sandbox: the layers that hold.
---@field sandboxNotices? VisibleText[]

--- pending: a user has to agree to start it. stopped: starts on the next call.
---@alias ToolServerState "pending"|"stopped"|"starting"|"running"|"failed"

--- stdio: a process. http: Streamable HTTP, or HTTP+SSE where the server has only that.
---@alias ToolServerTransport "stdio"|"http"

--- none: the server has asked for none. needed: a user has to log in (toolServers/login). granted: there is a token.
---@alias ToolServerAuthorization "none"|"needed"|"granted"

--- The login has begun, and waits for the user's browser: until it ends there (toolServers/loginEnded), for ten
--- minutes. One that waited before for the same server has ended.
---@class ToolServersLoginResult
---@field authorizationUrl Uri What the client opens in a browser, or shows to the user.
---@field host VisibleLine The host of that page, to be shown.

--- How a login ended.
---@class ToolServersLoginEndedParams
---@field server ServerName
---@field status LoginStatus
---@field message? VisibleText Why it failed.

--- granted: there is a token. cancelled: given up by a client, or not finished in time.
---@alias LoginStatus "granted"|"failed"|"cancelled"

--- Who named a tool server. builtIn: part of cellgate. user: initializationOptions or toolServers/add. commandLine.
--- workspaceFile: a file in the workspace, see `file`. agent: wrappers/generate of an agent.
---@alias ToolServerSource "builtIn"|"user"|"commandLine"|"workspaceFile"|"agent"

--- A tool as its server describes it.
---@class ToolInfo
---@field name ToolName
---@field inputSchema JsonObject
---@field outputSchema? JsonObject
---@field hints Hints

--- Which tools.
---@class ToolsSearchParams
---@field query? string Words that say what a tool should do. Default: all tools, in the order of their servers.
---@field server? ServerName Only this server's. Default: all.
---@field limit? integer How many at most. Default 10.

--- What was found, the best first.
---@class ToolsSearchResult
---@field tools FoundTool[]
---@field searched integer How many tools there are to find.

--- A tool, in short.
---@class FoundTool
---@field server ServerName
---@field tool ToolName
---@field summary VisibleLine The first sentence or line of its description.
---@field signature VisibleText

--- Writes the package of a tool server. With `config`: adds the server first, which for an agent is an action that a
--- user has to allow.
---@class WrappersGenerateParams
---@field server ServerName
---@field config? McpServerConfig
---@field outDir? Path Folder in which `mcptools` is written. Default: the workspace.
---@field language? WrapperLanguage Default python.
---@field workDoneToken? RequestId

--- In which the wrappers are written. One folder may hold those of both.
---@alias WrapperLanguage "python"|"typescript"

--- What was written, and which tools were left out and why.
---@class WrappersGenerateResult
---@field package ModuleName Dotted name, such as mcptools.filesystem. In Python it is imported so.
---@field modules WrapperModule[]
---@field skipped SkippedTool[]

--- A tool, and the module that calls it.
---@class WrapperModule
---@field tool ToolName
---@field module ModuleName
---@field path Path Absolute.

--- A tool that has no wrapper, and why.
---@class SkippedTool
---@field tool string
---@field reason string

--- A dotted Python name.
---@alias ModuleName string

--- Installs packages for the workspace's kernels; they can be imported at once. Python's by pip, for the kernels that
--- have the session's interpreter; packages of npm (`npm:lodash`) by Deno, for its kernels. Those of one call are of
--- one kind. An action of kind `install`, with the program's exact command. No code of a package runs, unless
--- `allowSourceBuilds`.
---@class PackagesInstallParams
---@field sessionId? ChosenId
---@field packages string[]
---@field allowSourceBuilds? boolean
---@field workDoneToken? RequestId

--- A package of npm as Deno imports it, with a version or a range: `npm:lodash`, `npm:@std/yaml@^1`.
---@alias NpmPackage any

--- A package as pip names it: a name, extras, versions. No option, marker, path, URL, or name that pip takes for a
--- file.
---@alias Requirement any

--- A package and where it lies: `name @ https://…` or `name @ git+https://…`.
---@alias DirectRequirement any

--- How pip ended. `failed`: nothing was installed, and what was there before is as it was.
---@class PackagesInstallResult
---@field status InstallStatus
---@field reason? string Of a failure, in one line.
---@field installed InstalledPackage[] With what they need, in the order of their names.
---@field output string The end of what pip printed, its errors last.
---@field layers LayerNames Of the build sandbox. Its network is the machine's.

--- How an install ended.
---@alias InstallStatus "ok"|"failed"

--- As its metadata names it.
---@class InstalledPackage
---@field name string
---@field version string

--- Calls a tool directly, through the gate.
---@class ToolsCallParams
---@field server ServerName
---@field tool ToolName
---@field arguments JsonObject
---@field sessionId? ChosenId Count the grants of this session, and show it with the approval.
---@field workDoneToken? RequestId Tells how far the call is, as its MCP server says.

--- MCP's result of a tool call. `isError` means that the tool itself says it failed.
---@class CallToolResult
---@field content table<string, any>[]
---@field structuredContent? any Any JSON value.
---@field isError? boolean

--- Without `server`: the kernels of this machine.
---@class KernelListParams
---@field server? KernelServer The kernels of this Jupyter server; its `name` counts for nothing.

--- Kernels that were found, the preferred first.
---@class KernelListResult
---@field kernels KernelInfo[]

--- A kernelspec, or an interpreter that can be a kernel.
---@class KernelInfo
---@field name string The kernelspec's name; for an interpreter, how to call it.
---@field displayName string
---@field language string
---@field source "kernelspec"|"interpreter"|"server" server: a kernelspec of the Jupyter server that was asked.
---@field interpreter? Path
---@field resourceDir? Path Folder of the kernelspec.
---@field problem? string Why it cannot be started, with what to do.

--- A place in code. No sessionId: the default session, which is not started for it.
---@class KernelCompleteParams
---@field sessionId? ChosenId
---@field code string At most 1,048,576 characters.
---@field cursorPos CodePoints

--- A place in code: how many Unicode code points come before it, as in Jupyter. More than there are: the end.
---@alias CodePoints integer

--- Each match would replace the text from cursorStart to cursorEnd. What could not be shown safely on one line is
--- left out.
---@class KernelCompleteResult
---@field matches VisibleLine[]
---@field types? VisibleLine[] What each match is, where the kernel tells: function, instance, module, keyword, magic …
---@field cursorStart CodePoints
---@field cursorEnd CodePoints

--- A place in code. No sessionId: the default session, which is not started for it.
---@class KernelInspectParams
---@field sessionId? ChosenId
---@field code string At most 1,048,576 characters.
---@field cursorPos CodePoints
---@field detailLevel? 0|1 1: with the source, where there is one. Default 0.

--- The kernel's description of the name. The words come from the code that defines it.
---@class KernelInspectResult
---@field found boolean
---@field text? VisibleText Signature, documentation and the like, without colours, at most 64 KiB.

--- Code to look at, which is not run. It is read by a language's own programs in a sandbox without network.
---@class ValidateParams
---@field code string At most 1,048,576 characters.
---@field language? string As kernelspecs spell it. Default: the session's, else python.
---@field context? string[]
---@field sessionId? ChosenId Whose Python and packages. It is not started for it.
---@field profile? ProfileName
---@field modules? string[]
---@field types? boolean Also look at types, which takes a second. Default true.

--- What was found, in the order of the lines.
---@class ValidateResult
---@field diagnostics Diagnostic[]
---@field checkers VisibleLine[] The programs that read the code.
---@field missing? VisibleLine[] Programs that would find more, each with how to install it.
---@field complexity? integer Of Python code that can be read: its cyclomatic complexity, 1 and 1 for each decision.

--- A finding in code. Lines and columns are counted from 0; columns are code points; the end is exclusive.
---@class Diagnostic
---@field line Line
---@field column Column
---@field endLine Line
---@field endColumn Column
---@field severity Severity
---@field rule string `syntax`, `import.not_found`, `attr.dunder`, or the checker's own name for it.
---@field message VisibleLine
---@field edits? TextEdit[] Would mend it. They are for a user or an agent to apply.
---@field install? string[] What would mend it, for packages/install.

--- error: it would not run as meant, or a profile refuses it.
---@alias Severity "error"|"warning"|"info"

--- Code points in the line before it.
---@alias Column integer

--- Replaces the text between two places.
---@class TextEdit
---@field line Line
---@field column Column
---@field endLine Line
---@field endColumn Column
---@field newText string

--- What sessions can be made here.
---@class RuntimesResult
---@field runtimes Runtime[]
---@field profiles Profile[]
---@field launchers LauncherInfo[]

--- A language, and the kernel that a session of it gets.
---@class Runtime
---@field language VisibleLine
---@field kernel VisibleLine Its name, as in kernel/list.
---@field version? VisibleLine Of the language, where a session of the workspace runs it.
---@field problem? VisibleLine Why it cannot be started, with what to do.

--- A named bundle of settings for sessions. What it offers is advice to those who write code; the sandbox is the
--- boundary.
---@class Profile
---@field name ProfileName
---@field description VisibleLine
---@field modules? VisibleLine[] Python modules that its code may import, with those below them. Without: all.
---@field notInstalled? VisibleLine[] Those of `modules` that the workspace's Python does not find.
---@field domains HostPattern[] Hosts that its sessions may connect to without asking.
---@field limits? Limits
---@field askBeforePrograms? boolean
---@field validation Validation

--- What is done with the findings before code runs. off: it is not looked at. advise: they are shown. strict: code
--- with an error is refused.
---@alias Validation "off"|"advise"|"strict"

--- What makes a sandbox here.
---@class LauncherInfo
---@field name SandboxLauncher
---@field problem? VisibleLine Why it cannot be used, with what to do.

--- No sessionId: the default session, which is not started for it.
---@class KernelVariablesParams
---@field sessionId? ChosenId

--- What the session's code has given names to, without modules, functions and classes, in the order in which that
--- was. 1025 where the kernel does not tell.
---@class KernelVariablesResult
---@field variables KernelVariable[]
---@field truncated boolean There are more.

--- One of them, as text on a line each.
---@class KernelVariable
---@field name VisibleLine
---@field type VisibleLine The name of its class.
---@field value VisibleLine As the code would write it, short. Empty where that would take long.
---@field size? VisibleLine Of a collection its length, of an array its shape.
