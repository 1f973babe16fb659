-- A workspace's conversation with its sidecar: what runs there, what waits for an answer, and how to come back to it
-- after a reload or a crash. It knows the protocol and nothing of buffers and windows; those listen to its events.
local config = require("cellgate.config")
local events = require("cellgate.events")
local outputs = require("cellgate.outputs")
local rpc = require("cellgate.rpc")

local M = {}

---@class cellgate.Execution
---@field id string
---@field root string
---@field session string
---@field cell? CellPosition
---@field code? string
---@field agent? string
---@field own? boolean its result comes as an answer to us
---@field state "queued"|"running"|"finished"|"lost"
---@field position? integer
---@field outputs cellgate.Outputs
---@field next_seq integer the number of the next record
---@field result? ExecuteResult
---@field problem? string why there is no result
---@field began? integer vim.uv.hrtime()
---@field input? { prompt: string, password: boolean, answer: fun(value: string?) }
---@field unread? integer records before this number are in the journal only; `load` reads them
---@field held? table[] records that wait for earlier ones from the journal
---@field superseded? boolean another one ran at the same place later

---@class cellgate.Waiting an approval, with what the plugin knows of it
---@field tag string its name in commands; never given twice
---@field approval Approval
---@field body string the message that brought it, for the bytes of its arguments
---@field session cellgate.Session

---@class cellgate.Session
---@field root string
---@field state "connecting"|"ready"|"gone"|"stopped"
---@field executions table<string, cellgate.Execution>
---@field order string[] ids of executions, the oldest first
---@field kernels table<string, string> session id to status
---@field waiting table<string, cellgate.Waiting>
local Session = {}
Session.__index = Session

---@type table<string, cellgate.Session>
M.all = {}

-- How often, within how long, a connection that ends is made again by itself.
local most_restarts, restart_window = 5, 180
-- As many as the sidecar tells of.
local most_executions = 1000
-- Of an execution that is found after a reload, so much is read from the journal's front; of the rest, the end.
local restored_pages, restored_tail = 8, 32

local last_tag = 0
local function new_tag()
  last_tag = last_tag + 1
  return tostring(last_tag)
end

--- How the sidecar is reached; tests put a fake here.
---@type fun(root: string, handlers: cellgate.RpcHandlers): cellgate.Peer?, string?
function M.connect(root, handlers)
  local program, problem = require("cellgate.program").find()
  if not program then
    return nil, problem
  end
  local command = { program, "connect", "--root", root }
  return rpc.spawn(vim.list_extend(command, config.values.arguments), root, handlers)
end

--- Tells the person something in one row: more would stop Neovim until a key is pressed. The log has all of it.
---@param words string
---@param level? integer
local function notify(words, level)
  words = "cellgate: " .. require("cellgate.text").visible((words:gsub("\n", " ")))
  local room = vim.v.echospace - 4
  if vim.fn.strdisplaywidth(words) > room then
    require("cellgate.log").write("info", words)
    local rest = " … :Cellgate log"
    words = vim.fn.strcharpart(words, 0, math.max(20, room - #rest)) .. rest
  end
  -- What was told before has been seen, or would make it two rows.
  vim.cmd.redraw()
  vim.notify(words, level or vim.log.levels.INFO)
end
M.notify = notify

---@param problem cellgate.RpcError
function M.describe(problem)
  local hint = problem.data and problem.data.hint
  return problem.message .. (hint and hint ~= "" and ". " .. hint or "")
end

--- The session of a workspace, connecting if it is not.
---@param root string
---@return cellgate.Session
function M.of(root)
  local session = M.all[root]
  if not session then
    session = setmetatable({
      root = root,
      state = "stopped",
      executions = {},
      order = {},
      kernels = {},
      waiting = {},
      attached = {},
      when_ready = {},
      restarts = {},
    }, Session)
    M.all[root] = session
  end
  if session.state == "stopped" then
    session:start()
  end
  return session
end

--- All approvals that wait, the oldest first.
---@return cellgate.Waiting[]
function M.waiting()
  local all = {}
  for _, session in pairs(M.all) do
    vim.list_extend(all, vim.tbl_values(session.waiting))
  end
  table.sort(all, function(a, b)
    return tonumber(a.tag) < tonumber(b.tag)
  end)
  return all
end

---@param id string
---@return cellgate.Execution?
function M.execution(id)
  for _, session in pairs(M.all) do
    if session.executions[id] then
      return session.executions[id]
    end
  end
end

function Session:emit(name, data)
  data.root = self.root
  events.emit(name, data)
end

---@private
function Session:set_state(state)
  self.state = state
  self:emit("CellgateConnection", { state = state })
end

-- --- connecting

---@private
function Session:start()
  self:set_state("connecting")
  local peer, problem = M.connect(self.root, {
    notified = function(method, params, body)
      local handler = self["on " .. method]
      if handler then
        handler(self, params, body)
      end
    end,
    requested = function(method, params, answer)
      if method == "input/request" then
        self:on_input(params, answer)
      else
        answer({ code = -32601, message = "this client does not answer " .. method })
      end
    end,
    closed = function(reason)
      self:on_closed(reason)
    end,
  })
  if not peer then
    self:fail(problem --[[@as string]])
    return
  end
  self.peer = peer
  peer:request("initialize", {
    clientInfo = { name = "neovim", version = tostring(vim.version()) },
    processId = vim.uv.os_getpid(),
    rootUri = vim.uri_from_fname(self.root),
    capabilities = { approvals = true, input = true, images = "file" },
    initializationOptions = {
      lingerSeconds = config.values.linger_seconds,
      mcpServers = next(config.values.mcp_servers) and config.values.mcp_servers or vim.empty_dict(),
    },
  }, function(failure, result)
    if failure then
      if not peer.gone then
        self:fail(M.describe(failure))
        peer.hang_up()
      end
      return
    end
    peer:notify("initialized", {})
    self:tell_lost(result.lost or {})
    self:attach_all(function()
      if self.peer ~= peer then
        return
      end
      self:set_state("ready")
      local ready = self.when_ready
      self.when_ready = {}
      for _, done in ipairs(ready) do
        done()
      end
    end)
  end)
end

-- Nothing more happens by itself: a person has to correct something.
---@private
function Session:fail(reason)
  self:set_state("stopped")
  local ready = self.when_ready
  self.when_ready = {}
  for _, done in ipairs(ready) do
    done(reason)
  end
  if #ready == 0 then
    notify(reason, vim.log.levels.ERROR)
  end
end

---@private
function Session:tell_lost(lost)
  for _, work in ipairs(lost) do
    for _, each in ipairs(work.executions) do
      local known = self.executions[each.executionId]
      if known then
        known.problem = "the sidecar ended while it " .. (each.state == "running" and "ran" or "waited")
        self:emit("CellgateExecution", { execution = known.id, state = "lost" })
      end
    end
    notify(
      ("a sidecar ended without a goodbye at %s: %d kernels with their variables are gone, and %d cells did not finish"):format(
        work.endedAt,
        #work.sessions,
        #work.executions
      ),
      vim.log.levels.WARN
    )
  end
end

---@private
function Session:on_closed(reason)
  self.peer = nil
  if next(self.waiting) then
    self.waiting = {}
    self:emit("CellgateApproval", { waiting = 0 })
  end
  self.kernels, self.attached = {}, {}
  for _, id in ipairs(self.order) do
    local execution = self.executions[id]
    if execution.state ~= "finished" then
      execution.state, execution.input, execution.own = "lost", nil, nil
      execution.problem = "the connection to the sidecar ended"
      self:emit("CellgateExecution", { execution = id, state = "lost" })
    end
  end
  if self.state == "stopped" then
    self:set_state("stopped")
    return
  end
  require("cellgate.log").write("warning", self.root .. ": " .. reason)
  local now = vim.uv.hrtime() / 1e9
  self.restarts = vim.tbl_filter(function(at)
    return now - at < restart_window
  end, self.restarts)
  if #self.restarts >= most_restarts then
    self:fail(("the sidecar of %s ended %d times: %s"):format(self.root, #self.restarts + 1, reason))
    return
  end
  table.insert(self.restarts, now)
  self:set_state("gone")
  vim.defer_fn(function()
    if self.state == "gone" then
      self:start()
    end
  end, M.restart_delay(#self.restarts))
end

--- Milliseconds before the n-th restart in a row: at once the first time, then longer and longer.
---@param nth integer
function M.restart_delay(nth)
  return nth == 1 and 100 or 1000 * 2 ^ (nth - 2)
end

--- Calls `done` when the conversation is open, or with the reason why it will not be.
---@param done fun(problem?: string)
function Session:ready(done)
  if self.state == "ready" then
    done()
  else
    table.insert(self.when_ready, done)
  end
end

--- Asks the sidecar, when it is there.
---@param method string
---@param params table|string
---@param done? fun(problem: cellgate.RpcError?, result: any)
function Session:request(method, params, done)
  self:ready(function(problem)
    if problem then
      if done then
        done({ code = 0, message = problem })
      end
    else
      self.peer:request(method, params, done)
    end
  end)
end

--- Says goodbye. With `exit`, the last editor ends the sidecar, its kernels and all that they run.
---@param done? fun()
function Session:stop(done)
  local peer = self.peer
  self.state = "stopped"
  if not peer then
    if done then
      done()
    end
    return
  end
  peer:request("shutdown", {}, function()
    peer:notify("exit", {})
    peer.hang_up()
    if done then
      done()
    end
  end)
end

-- --- coming back

---@private
function Session:attach_all(done)
  self.peer:request("session/list", {}, function(problem, result)
    local left = problem and {} or result.sessions
    local function next_one()
      local info = table.remove(left, 1)
      if info then
        self:attach(info.sessionId, next_one)
      else
        done()
      end
    end
    next_one()
  end)
end

--- From now on, all executions of a kernel's session are known here.
---@param session_id string
---@param done? fun()
function Session:attach(session_id, done)
  self.attached[session_id] = true
  self.peer:request("session/attach", { sessionId = session_id }, function(problem, result)
    if problem then
      -- Not there yet: its next status is another chance.
      self.attached[session_id] = nil
    else
      self:set_kernel(session_id, result.session.status)
      local later = {}
      for i = #result.executions, 1, -1 do
        local each = result.executions[i]
        local at = each.cell and each.cell.uri .. ":" .. each.cell.line
        each.superseded = at and later[at]
        if at then
          later[at] = true
        end
      end
      for _, each in ipairs(result.executions) do
        self:found(session_id, each)
      end
    end
    if done then
      done()
    end
  end)
end

---@private
function Session:found(session_id, each)
  local known = self.executions[each.executionId]
  if known and known.state ~= "lost" then
    return
  end
  local execution = known or self:remember(each.executionId, session_id, { cell = each.cell, agent = each.agent })
  execution.state, execution.position, execution.problem = each.state, each.position, nil
  execution.outputs = outputs.new()
  execution.next_seq, execution.unread, execution.superseded = each.nextSeq, each.nextSeq, each.superseded
  -- What comes from now on follows what the journal has until now.
  execution.held = {}
  self.peer:request("execution/get", { executionId = execution.id }, function(problem, info)
    if not problem then
      execution.code = info.code
      execution.result = info.result
      if info.state == "finished" then
        execution.state = "finished"
      end
    end
    self:emit("CellgateExecution", { execution = execution.id, state = execution.state, agent = execution.agent })
  end)
  if each.state ~= "finished" then
    self:load(execution)
  end
end

--- Reads the output of an execution that was found, if nobody has yet.
---@param execution cellgate.Execution
function Session:load(execution)
  local to = execution.unread
  execution.unread = nil
  if to then
    self:restore(execution, 0, to, 0)
  end
end

-- Reads what the journal has, up to the record `to`.
---@private
function Session:restore(execution, from, to, pages)
  if from >= to then
    self:release(execution)
    return
  end
  if pages == restored_pages and from < to - restored_tail then
    execution.outputs:add({ skippedBytes = 0 })
    from = to - restored_tail
  end
  self.peer:request("output/read", { executionId = execution.id, fromSeq = from }, function(problem, page)
    if problem then
      self:release(execution)
      return
    end
    for _, record in ipairs(page.records) do
      if record.seq < to then
        execution.outputs:add(record)
      end
    end
    self:restore(execution, page.nextSeq > from and page.nextSeq or to, to, pages + 1)
  end)
end

---@private
function Session:release(execution)
  local held = execution.held or {}
  execution.held = nil
  for _, record in ipairs(held) do
    self:add_output(execution, record)
  end
  self:emit("CellgateOutput", { execution = execution.id })
end

-- --- executions

---@private
function Session:remember(id, session_id, more)
  local execution = vim.tbl_extend("force", {
    id = id,
    root = self.root,
    session = session_id,
    state = "queued",
    outputs = outputs.new(),
    next_seq = 0,
  }, more)
  self.executions[id] = execution
  table.insert(self.order, id)
  if #self.order > most_executions then
    self.executions[table.remove(self.order, 1)] = nil
  end
  return execution
end

local function new_id()
  return "nvim-" .. vim.uv.random(8):gsub(".", function(byte)
    return ("%02x"):format(byte:byte())
  end)
end

--- Runs code. What becomes of it is told by events.
---@param params { code: string, cell?: CellPosition, session?: string }
---@return cellgate.Execution
function Session:execute(params)
  local execution =
    self:remember(new_id(), params.session or "default", { code = params.code, cell = params.cell, own = true })
  self:request("execute", {
    executionId = execution.id,
    sessionId = params.session,
    code = params.code,
    cell = params.cell,
  }, function(problem, result)
    if problem then
      if execution.state ~= "lost" then
        execution.problem = M.describe(problem)
      end
    else
      execution.result = result
    end
    execution.input = nil
    if execution.state ~= "lost" then
      execution.state = "finished"
      self:emit("CellgateExecution", { execution = execution.id, state = "finished" })
    end
  end)
  return execution
end

--- Records of an execution, from its front.
---@param id string
---@param from integer
---@param done fun(problem: cellgate.RpcError?, page: OutputReadResult)
function Session:read_output(id, from, done)
  self:request("output/read", { executionId = id, fromSeq = from, maxBytes = 256 * 1024 }, done)
end

Session["on execute/changed"] = function(self, params)
  local execution = self.executions[params.executionId]
  if not execution then
    execution = self:remember(params.executionId, params.sessionId or "default", { agent = params.agent })
    self.peer:request("execution/get", { executionId = execution.id }, function(problem, info)
      if not problem then
        execution.code = info.code
        execution.session = info.sessionId
      end
    end)
  end
  execution.position = params.position
  if params.state == "running" then
    execution.began = vim.uv.hrtime()
  end
  -- Of one's own the end comes with the result.
  if params.state == "finished" and execution.own then
    return
  elseif params.state == "finished" then
    self.peer:request("execution/get", { executionId = execution.id }, function(problem, info)
      execution.state, execution.input = "finished", nil
      execution.result = not problem and info.result or execution.result
      self:emit("CellgateExecution", { execution = execution.id, state = "finished", agent = execution.agent })
    end)
    return
  end
  execution.state = params.state
  self:emit("CellgateExecution", { execution = execution.id, state = params.state, agent = execution.agent })
end

---@private
function Session:add_output(execution, record)
  execution.outputs:add(record)
  if record.output and record.output.output_type == "update_display_data" then
    for _, id in ipairs(self.order) do
      local other = self.executions[id]
      if other ~= execution and other.session == execution.session then
        local changed = other.outputs:update(record.output.transient.display_id, record.output, record.files)
        if changed then
          self:emit("CellgateOutput", { execution = id })
        end
      end
    end
  end
end

Session["on execute/output"] = function(self, params)
  local execution = self.executions[params.executionId]
  if not execution then
    return
  end
  execution.next_seq = params.seq + params.count
  if execution.held then
    table.insert(execution.held, params)
    return
  end
  self:add_output(execution, params)
  self:emit("CellgateOutput", { execution = execution.id })
end

---@private
function Session:on_input(params, answer)
  local execution = self.executions[params.executionId]
  if not execution then
    answer({ code = -32603, message = "not an execution of this client" })
    return
  end
  execution.input = {
    prompt = params.prompt,
    password = params.password,
    answer = function(value)
      execution.input = nil
      if value then
        answer(nil, { value = value })
      else
        -- End of file to the code.
        answer({ code = -32800, message = "no input was given" })
      end
      self:emit("CellgateInput", { execution = execution.id })
    end,
  }
  self:emit("CellgateInput", { execution = execution.id })
end

-- --- kernels

---@private
function Session:set_kernel(session_id, status, reason)
  self.kernels[session_id] = status
  self:emit("CellgateKernel", { session = session_id, status = status, reason = reason })
end

Session["on session/changed"] = function(self, params)
  self:set_kernel(params.sessionId, params.status, params.reason)
  if params.status == "dead" then
    notify(
      ("the kernel of %s ended: %s"):format(params.sessionId, params.reason or "no reason was told"),
      vim.log.levels.WARN
    )
  end
  if not self.attached[params.sessionId] and params.status ~= "dead" then
    -- Somebody started it: what others run there is to be seen here too.
    self:attach(params.sessionId)
  end
end

-- --- approvals

Session["on approval/requested"] = function(self, params, body)
  local known = self.waiting[params.approvalId]
  self.waiting[params.approvalId] =
    { tag = known and known.tag or new_tag(), approval = params, body = body, session = self }
  self:emit("CellgateApproval", { waiting = vim.tbl_count(self.waiting), approval = params.approvalId })
end

Session["on approval/resolved"] = function(self, params)
  if self.waiting[params.approvalId] then
    self.waiting[params.approvalId] = nil
    self:emit("CellgateApproval", {
      waiting = vim.tbl_count(self.waiting),
      approval = params.approvalId,
      decision = params.decision,
    })
  end
end

-- --- the rest

Session["on $/progress"] = function(_, params)
  local value = params.value
  notify(value.message or value.title or "done")
end

Session["on window/logMessage"] = function(_, params)
  require("cellgate.log").write(
    params.type == 1 and "error" or params.type == 2 and "warning" or "info",
    params.message
  )
end

return M
