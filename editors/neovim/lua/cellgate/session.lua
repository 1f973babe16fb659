-- A workspace's conversation with its sidecar: what runs there, what waits for an answer, and how to come back to it
-- after a reload or a crash. It knows the protocol and nothing of buffers and windows; those listen to its events.
local connection = require("cellgate.connection")
local events = require("cellgate.events")
local notice = require("cellgate.notice")
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
---@field unsent? boolean nobody was asked to run it yet
---@field cleared? boolean a person took its output away
---@field superseded? boolean another one ran at the same place later

---@class cellgate.Waiting an approval, with what the plugin knows of it
---@field tag string its name in commands; never given twice
---@field approval Approval
---@field body string the message that brought it, for the bytes of its arguments
---@field session cellgate.Session

---@class cellgate.Session
---@field root string
---@field connection cellgate.Connection
---@field executions table<string, cellgate.Execution>
---@field order string[] ids of executions, the oldest first
---@field kernels table<string, string> session id to status
---@field waiting table<string, cellgate.Waiting>
---@field package attached table<string, boolean> sessions whose executions are told to us
local Session = {}
Session.__index = Session

---@type table<string, cellgate.Session>
M.all = {}

-- As many as the sidecar tells of.
local most_executions = 1000
-- Of an execution that is found after a reload, so much is read from the journal's front; of the rest, the end.
local restored_pages, restored_tail = 8, 32

local last_tag = 0
local function new_tag()
  last_tag = last_tag + 1
  return tostring(last_tag)
end

M.notify, M.describe = notice.tell, rpc.describe

--- The session of a workspace, connecting if it is not.
---@param root string
---@return cellgate.Session
function M.of(root)
  local session = M.all[root]
  if not session then
    session = setmetatable({
      root = root,
      executions = {},
      order = {},
      kernels = {},
      waiting = {},
      attached = {},
    }, Session)
    session.connection = connection.new(root, session:handlers())
    M.all[root] = session
  end
  session.connection:want()
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

--- How many executions come before a queued one: as many as it was told once, or as are left of those since.
---@param execution cellgate.Execution
---@return integer
function M.before(execution)
  local here, left = M.all[execution.root], 0
  for _, id in ipairs(here.order) do
    local other = here.executions[id]
    if other == execution then
      break
    elseif other.session == execution.session and (other.state == "queued" or other.state == "running") then
      left = left + 1
    end
  end
  return math.min(left, execution.position or 0)
end

function Session:emit(name, data)
  data.root = self.root
  events.emit(name, data)
end

-- --- connecting

---@private
---@return cellgate.ConnectionHandlers
function Session:handlers()
  return {
    changed = function(state)
      self:emit("CellgateConnection", { state = state })
    end,
    opened = function(peer, result, ready)
      self:tell_lost(result.lost or {})
      self:attach_all(peer, ready)
    end,
    lost = function()
      self:on_lost()
    end,
    notified = function(peer, method, params, body)
      local handler = self["on " .. method]
      if handler then
        handler(self, params, peer, body)
      end
    end,
    requested = function(method, params, answer)
      if method == "input/request" then
        self:on_input(params, answer)
      else
        answer({ code = -32601, message = "this client does not answer " .. method })
      end
    end,
  }
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
    notice.tell(
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
function Session:on_lost()
  if next(self.waiting) then
    self.waiting = {}
    self:emit("CellgateApproval", { waiting = 0 })
  end
  self.kernels, self.attached = {}, {}
  for _, id in ipairs(self.order) do
    local execution = self.executions[id]
    if execution.state ~= "finished" and not execution.unsent then
      execution.state, execution.input, execution.own = "lost", nil, nil
      execution.problem = "the connection to the sidecar ended"
      self:emit("CellgateExecution", { execution = id, state = "lost" })
    end
  end
end

--- Asks the sidecar, when it is there.
---@param method string
---@param params table|string
---@param done? fun(problem: cellgate.RpcError?, result: any)
function Session:request(method, params, done)
  self.connection:request(method, params, done)
end

-- --- coming back

---@private
---@param peer cellgate.Peer whose sessions they are; all of coming back is asked of the same one
function Session:attach_all(peer, done)
  peer:request("session/list", {}, function(problem, result)
    local left = problem and {} or result.sessions
    local function next_one()
      local info = table.remove(left, 1)
      if info then
        self:attach(peer, info.sessionId, next_one)
      else
        done()
      end
    end
    next_one()
  end)
end

--- From now on, all executions of a kernel's session are known here.
---@param peer cellgate.Peer
---@param session_id string
---@param done? fun()
function Session:attach(peer, session_id, done)
  self.attached[session_id] = true
  peer:request("session/attach", { sessionId = session_id }, function(problem, result)
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
        self:found(peer, session_id, each)
      end
    end
    if done then
      done()
    end
  end)
end

---@private
function Session:found(peer, session_id, each)
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
  peer:request("execution/get", { executionId = execution.id }, function(problem, info)
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
    self:load_from(peer, execution)
  end
end

--- Reads the output of an execution that was found, if nobody has yet.
---@param execution cellgate.Execution
function Session:load(execution)
  if execution.unread then
    self.connection:ready(function(_, peer)
      if peer then
        self:load_from(peer, execution)
      end
    end)
  end
end

---@private
function Session:load_from(peer, execution)
  local to = execution.unread
  execution.unread = nil
  if to then
    self:restore(peer, execution, 0, to, 0)
  end
end

-- Reads what the journal has, up to the record `to`.
---@private
function Session:restore(peer, execution, from, to, pages)
  if from >= to then
    self:release(execution)
    return
  end
  if pages == restored_pages and from < to - restored_tail then
    execution.outputs:add({ skippedBytes = 0 })
    from = to - restored_tail
  end
  peer:request("output/read", { executionId = execution.id, fromSeq = from }, function(problem, page)
    if problem then
      self:release(execution)
      return
    end
    for _, record in ipairs(page.records) do
      if record.seq < to then
        execution.outputs:add(record)
      end
    end
    self:restore(peer, execution, page.nextSeq > from and page.nextSeq or to, to, pages + 1)
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
  local function ended(problem, result)
    -- A lost one is told of by whoever lost it.
    if execution.state == "lost" then
      return
    end
    execution.problem = problem and rpc.describe(problem)
    execution.result, execution.input, execution.state = result, nil, "finished"
    self:emit("CellgateExecution", { execution = execution.id, state = "finished" })
  end
  execution.unsent = true
  self.connection:ready(function(problem, peer)
    execution.unsent = nil
    if not peer then
      ended({ code = 0, message = problem })
      return
    end
    peer:request("execute", {
      executionId = execution.id,
      sessionId = params.session,
      code = params.code,
      cell = params.cell,
    }, ended)
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

Session["on execute/changed"] = function(self, params, peer)
  local execution = self.executions[params.executionId]
  if not execution then
    execution = self:remember(params.executionId, params.sessionId or "default", { agent = params.agent })
    peer:request("execution/get", { executionId = execution.id }, function(problem, info)
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
    peer:request("execution/get", { executionId = execution.id }, function(problem, info)
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

Session["on session/changed"] = function(self, params, peer)
  self:set_kernel(params.sessionId, params.status, params.reason)
  if params.status == "dead" then
    notice.tell(
      ("the kernel of %s ended: %s"):format(params.sessionId, params.reason or "no reason was told"),
      vim.log.levels.WARN
    )
  end
  if not self.attached[params.sessionId] and params.status ~= "dead" then
    -- Somebody started it: what others run there is to be seen here too.
    self:attach(peer, params.sessionId)
  end
end

-- --- approvals

Session["on approval/requested"] = function(self, params, _, body)
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
  notice.tell(value.message or value.title or "done")
end

Session["on window/logMessage"] = function(_, params)
  require("cellgate.log").write(
    params.type == 1 and "error" or params.type == 2 and "warning" or "info",
    params.message
  )
end

return M
