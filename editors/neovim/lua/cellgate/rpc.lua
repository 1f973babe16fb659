-- `rpc` is JSON-RPC 2.0 with Content-Length headers over the stdio of a process. `Peer` is the conversation, without
-- any process: bytes in, bytes out. It guarantees that each request is answered exactly once, with an error when the
-- other side ends, and that messages are handled on the main loop, in order, in turns short enough to type between.

local M = {}

-- As in the sidecar.
local max_message_bytes = 64 * 1024 * 1024
local max_header_bytes = 64 * 1024
-- How long messages are handled before what the user types is looked at again.
local turn_nanoseconds = 8 * 1000 * 1000
-- More than this, not yet handled, and reading pauses: the sidecar then joins output, or leaves it in the journal.
local max_unhandled_bytes = 8 * 1024 * 1024

---@class cellgate.RpcError
---@field code integer
---@field message string
---@field data? { kind: string, hint: string }

--- What a user reads of a problem.
---@param problem cellgate.RpcError
---@return string
function M.describe(problem)
  local hint = problem.data and problem.data.hint
  return problem.message .. (hint and hint ~= "" and ". " .. hint or "")
end

---@class cellgate.RpcHandlers
---@field notified fun(method: string, params: table)
---@field requested fun(method: string, params: table, answer: fun(problem: cellgate.RpcError?, result: table?))
---@field closed fun(reason: string)

---@class cellgate.Peer
---@field gone? string why the conversation has ended
---@field hang_up fun() says to the other side that nothing more comes
---@field package on_drained? fun() after all that came was handled
---@field private write fun(bytes: string)
---@field private handlers cellgate.RpcHandlers
---@field private next_id integer of requests
---@field private pending table<integer, fun(problem: cellgate.RpcError?, result: any)> who waits for which answer
---@field private pieces string[] what came of a message that is not whole yet
---@field private piece_bytes integer of all pieces
---@field private wanted integer bytes of the whole message, where its header was read
---@field private queue (string|false)[] messages that wait to be handled
---@field private first integer of these
---@field private queued_bytes integer
---@field private scheduled? boolean their handling is
---@field private failed? boolean every pending request got the error that the other side has ended
local Peer = {}
Peer.__index = Peer

---@param write fun(bytes: string)
---@param handlers cellgate.RpcHandlers
---@return cellgate.Peer
function M.new(write, handlers)
  return setmetatable({
    write = write,
    handlers = handlers,
    next_id = 1,
    pending = {},
    pieces = {},
    piece_bytes = 0,
    wanted = 0,
    queue = {},
    first = 1,
    queued_bytes = 0,
    on_drained = nil,
  }, Peer)
end

---@param body string
function Peer:send(body)
  self.write(("Content-Length: %d\r\n\r\n"):format(#body) .. body)
end

-- By Unicode's table of well-formed sequences: nothing overlong, no surrogates.
local characters = {
  "^[\194-\223][\128-\191]()",
  "^\224[\160-\191][\128-\191]()",
  "^[\225-\236\238\239][\128-\191][\128-\191]()",
  "^\237[\128-\159][\128-\191]()",
  "^\240[\144-\191][\128-\191][\128-\191]()",
  "^[\241-\243][\128-\191][\128-\191][\128-\191]()",
  "^\244[\128-\143][\128-\191][\128-\191]()",
}

-- Whether a text is UTF-8, as JSON has to be. A buffer may hold anything, and vim.json passes it on.
local function is_utf8(text)
  local at = text:find("[\128-\255]")
  while at do
    local after
    for _, pattern in ipairs(characters) do
      after = after or text:match(pattern, at)
    end
    if not after then
      return false
    end
    at = text:find("[\128-\255]", after)
  end
  return true
end

-- A text is JSON already, whose numbers stay as they are written.
---@param params table|string
local function params_text(params)
  if type(params) == "string" then
    return params
  end
  return vim.json.encode(next(params) == nil and vim.empty_dict() or params)
end

--- Asks; `done` is called once, on the main loop.
---@param method string
---@param params table|string
---@param done? fun(problem: cellgate.RpcError?, result: any)
---@return integer id for `cancel`
function Peer:request(method, params, done)
  local id = self.next_id
  self.next_id = id + 1
  done = done or function() end
  local body = params_text(params)
  -- Of a message that cannot be read, the other side cannot say whose request it was.
  local problem = self.gone or not is_utf8(body) and "it holds bytes that are not UTF-8: nothing was sent"
  if problem then
    vim.schedule(function()
      done({ code = 0, message = problem })
    end)
    return id
  end
  self.pending[id] = done
  self:send(('{"jsonrpc":"2.0","id":%d,"method":"%s","params":%s}'):format(id, method, body))
  return id
end

---@param method string
---@param params table
function Peer:notify(method, params)
  if not self.gone then
    self:send(('{"jsonrpc":"2.0","method":"%s","params":%s}'):format(method, params_text(params)))
  end
end

---@param id integer of a request, which is still answered
function Peer:cancel(id)
  if self.pending[id] then
    self:notify("$/cancelRequest", { id = id })
  end
end

--- Takes what came, in whatever pieces.
---@param bytes string
function Peer:feed(bytes)
  self.pieces[#self.pieces + 1] = bytes
  self.piece_bytes = self.piece_bytes + #bytes
  if self.gone or self.piece_bytes < self.wanted then
    return
  end
  local text = table.concat(self.pieces)
  local at = 1
  self.wanted = 0
  while true do
    local _, header_end = text:find("\r\n\r\n", at, true)
    if not header_end then
      if #text - at > max_header_bytes then
        return self:close("what cellgate sent is no message: a header without an end")
      end
      break
    end
    local length = tonumber(text:sub(at, header_end):lower():match("content%-length:%s*(%d+)%s*\r\n"))
    if not length or length > max_message_bytes then
      return self:close(
        "what cellgate sent is no message: " .. vim.inspect(text:sub(at, math.min(header_end, at + 80)))
      )
    end
    if #text < header_end + length then
      self.wanted = header_end + length - at + 1
      break
    end
    self:enqueue(text:sub(header_end + 1, header_end + length))
    at = header_end + length + 1
  end
  text = text:sub(at)
  self.pieces = { text }
  self.piece_bytes = #text
end

---@private
function Peer:enqueue(body)
  self.queue[#self.queue + 1] = body
  self.queued_bytes = self.queued_bytes + #body
  if not self.scheduled then
    self.scheduled = true
    vim.schedule(function()
      self:handle_queue()
    end)
  end
end

function Peer:is_full()
  return self.queued_bytes > max_unhandled_bytes
end

-- An error in one handler ends nothing for the others.
local function or_log(what, act, ...)
  local good, problem = xpcall(act, debug.traceback, ...)
  if not good then
    require("cellgate.log").write("error", "while handling " .. what:sub(1, 200) .. ": " .. problem)
  end
end

---@private
function Peer:handle_queue()
  local began = vim.uv.hrtime()
  self.scheduled = false
  while self.first <= #self.queue do
    local body = self.queue[self.first]
    self.queue[self.first] = false
    self.first = self.first + 1
    self.queued_bytes = self.queued_bytes - #body
    or_log(body, self.handle, self, body)
    if vim.uv.hrtime() - began > turn_nanoseconds and self.first <= #self.queue then
      self.scheduled = true
      -- Through a timer: what is only scheduled would come before the next key.
      vim.defer_fn(function()
        self:handle_queue()
      end, 1)
      return
    end
  end
  self.queue, self.first = {}, 1
  if self.gone then
    self:fail_pending()
  elseif self.on_drained then
    self.on_drained()
  end
end

---@private
function Peer:handle(body)
  local message = vim.json.decode(body, { luanil = { object = true } })
  if type(message) ~= "table" then
    error("not a message", 0)
  end
  if message.method == nil then
    local done = self.pending[message.id]
    self.pending[message.id or 0] = nil
    if done then
      done(message.error, message.result)
    else
      require("cellgate.log").write("warning", "an answer to no request: " .. body:sub(1, 300))
    end
  elseif message.id == nil then
    self.handlers.notified(message.method, message.params or {})
  else
    local answered = false
    self.handlers.requested(message.method, message.params or {}, function(problem, result)
      if answered or self.gone then
        return
      end
      answered = true
      local id = vim.json.encode(message.id)
      if problem then
        self:send(('{"jsonrpc":"2.0","id":%s,"error":%s}'):format(id, vim.json.encode(problem)))
      else
        self:send(('{"jsonrpc":"2.0","id":%s,"result":%s}'):format(id, params_text(result or {})))
      end
    end)
  end
end

--- Ends the conversation: what was received is handled, then every pending request gets an error.
---@param reason string
function Peer:close(reason)
  if self.gone then
    return
  end
  self.gone = reason
  if not self.scheduled then
    self.scheduled = true
    vim.schedule(function()
      self:handle_queue()
    end)
  end
end

---@private
function Peer:fail_pending()
  if self.failed then
    return
  end
  self.failed = true
  local pending = self.pending
  self.pending = {}
  or_log("the end of the conversation", self.handlers.closed, self.gone)
  for _, done in pairs(pending) do
    or_log("the end of the conversation", done, { code = 0, message = self.gone })
  end
end

-- Reads what a program writes to its peer, and pauses while that has too much to handle.
---@param stdout uv.uv_pipe_t
---@param peer cellgate.Peer
---@param ended fun()
local function read_messages(stdout, peer, ended)
  local paused = false
  local function read(failure, bytes)
    if failure or not bytes then
      stdout:close()
      ended()
      return
    end
    peer:feed(bytes)
    if peer:is_full() then
      paused = true
      stdout:read_stop()
    end
  end
  peer.on_drained = function()
    if paused and not stdout:is_closing() then
      paused = false
      stdout:read_start(read)
    end
  end
  stdout:read_start(read)
end

-- Keeps the end of what a program writes to stderr, for the reason why it ended.
---@param stderr uv.uv_pipe_t
---@return fun(): string
local function collect_errors(stderr)
  local errors = ""
  stderr:read_start(function(failure, bytes)
    if failure or not bytes then
      stderr:close()
      return
    end
    errors = (errors .. bytes):sub(-4096)
  end)
  return function()
    return vim.trim(errors)
  end
end

local function close_all(handles)
  for _, handle in ipairs(handles) do
    if not handle:is_closing() then
      handle:close()
    end
  end
end

--- Starts a program and talks to it.
---@param command string[]
---@param cwd string
---@param handlers cellgate.RpcHandlers
---@return cellgate.Peer? peer
---@return string? problem
function M.spawn(command, cwd, handlers)
  local stdin, stdout, stderr = assert(vim.uv.new_pipe()), assert(vim.uv.new_pipe()), assert(vim.uv.new_pipe())
  local peer, errors, code
  local has_closed_stdout = false

  local function finish()
    if code and has_closed_stdout then
      peer:close(errors() ~= "" and errors() or ("cellgate ended with code " .. code))
    end
  end
  local process, problem
  process, problem = vim.uv.spawn(command[1], {
    args = vim.list_slice(command, 2),
    stdio = { stdin, stdout, stderr },
    cwd = cwd,
    -- Not in our group: Ctrl-C in a terminal is for Neovim.
    detached = true,
  }, function(status, signal)
    code = signal ~= 0 and ("signal " .. signal) or status
    close_all({ stdin, process })
    finish()
  end)
  if not process then
    close_all({ stdin, stdout, stderr })
    return nil, ("%s does not start: %s"):format(command[1], problem)
  end

  peer = M.new(function(bytes)
    if not stdin:is_closing() then
      stdin:write(bytes)
    end
  end, handlers)
  errors = collect_errors(stderr)
  read_messages(stdout, peer, function()
    has_closed_stdout = true
    finish()
  end)
  --- Closes its stdin, which is how a client announces that it leaves.
  peer.hang_up = function()
    close_all({ stdin })
  end
  return peer
end

return M
