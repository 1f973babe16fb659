-- `session` is a workspace's conversation with its sidecar: its connection, kernels, executions and pending approvals.
-- It knows the protocol and nothing of buffers and windows; those listen to its events. Its methods about executions
-- are in `session_executions`, those about changed files in `session_changes`, those about tool servers in
-- `session_servers`, those for coming back after a reload or a crash in `session_reattaching`.
local connection = require("cellgate.connection")
local events = require("cellgate.events")
local notify = require("cellgate.notify")

local M = {}

---@class cellgate.PendingApproval an approval, with what the plugin knows of it
---@field tag string its name in commands; never given twice
---@field approval Approval
---@field session cellgate.Session

---@class cellgate.Session
---@field root string
---@field connection cellgate.Connection
---@field executions table<string, cellgate.Execution>
---@field order string[] ids of executions, the oldest first
---@field changes ChangesFoundParams[] of executions and undos, the oldest first
---@field kernels table<string, string> session id to status
---@field waiting table<string, cellgate.PendingApproval>
---@field elicitations table<string, cellgate.PendingElicitation> that wait
---@field logins table<string, ToolServersLoginResult> by tool server: those that wait for the user's browser
---@field attached table<string, boolean> sessions whose executions the sidecar reports to us
local Session = {}
Session.__index = Session
for _, part in ipairs({ "session_changes", "session_executions", "session_reattaching", "session_servers" }) do
  for name, method in pairs(require("cellgate." .. part)) do
    Session[name] = method
  end
end

---@type table<string, cellgate.Session>
M.all = {}

local last_tag = 0

---@private
function Session.new_tag()
  last_tag = last_tag + 1
  return tostring(last_tag)
end

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
      changes = {},
      kernels = {},
      waiting = {},
      elicitations = {},
      logins = {},
      attached = {},
    }, Session)
    session.connection = connection.new(root, session:handlers())
    M.all[root] = session
  end
  session.connection:want()
  return session
end

local function by_age(field)
  local all = {}
  for _, session in pairs(M.all) do
    vim.list_extend(all, vim.tbl_values(session[field]))
  end
  table.sort(all, function(a, b)
    return tonumber(a.tag) < tonumber(b.tag)
  end)
  return all
end

--- All approvals that wait, the oldest first.
---@return cellgate.PendingApproval[]
function M.waiting()
  return by_age("waiting")
end

--- All elicitations that wait, the oldest first.
---@return cellgate.PendingElicitation[]
function M.elicitations()
  return by_age("elicitations")
end

--- How much waits for the user.
---@return integer
function M.waiting_count()
  return #M.waiting() + #M.elicitations()
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

-- --- connecting

---@private
---@return cellgate.ConnectionHandlers
function Session:handlers()
  return {
    changed = function(state)
      self:emit("CellgateConnection", { state = state })
    end,
    connected = function(peer, result, ready)
      self:report_lost(result.lost or {})
      self:restore_changes(peer)
      self:attach_all(peer, ready)
    end,
    lost = function()
      self:on_lost()
    end,
    notified = function(peer, method, params)
      local handler = self["on " .. method]
      if handler then
        handler(self, params, peer)
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
function Session:report_lost(lost)
  for _, work in ipairs(lost) do
    for _, each in ipairs(work.executions) do
      local known = self.executions[each.executionId]
      if known then
        known.problem = "the sidecar ended while it " .. (each.state == "running" and "ran" or "waited")
        self:emit("CellgateExecution", { execution = known.id, state = "lost" })
      end
    end
    notify.show(
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
  self:forget_servers()
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

-- --- kernels

---@private
function Session:set_kernel(session_id, status, reason)
  self.kernels[session_id] = status
  self:emit("CellgateKernel", { session = session_id, status = status, reason = reason })
end

Session["on session/changed"] = function(self, params, peer)
  self:set_kernel(params.sessionId, params.status, params.reason)
  if params.status == "dead" and params.reason then
    notify.show(("the kernel of %s ended: %s"):format(params.sessionId, params.reason), vim.log.levels.WARN)
  end
  if not self.attached[params.sessionId] and params.status ~= "dead" then
    -- Another client started it: what runs there is shown here too.
    self:attach(peer, params.sessionId)
  end
end

-- --- approvals

Session["on approval/requested"] = function(self, params)
  local known = self.waiting[params.approvalId]
  self.waiting[params.approvalId] = { tag = known and known.tag or self.new_tag(), approval = params, session = self }
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
  local words = params.value.message or params.value.title
  -- An end has none: what became of it, the request's answer says.
  if words then
    notify.show(words)
  end
end

--- What a list method answers, for completion: that starts nothing, and waits 0.3 s at most.
---@param root string
---@param method string
---@return table? answer nil: no sidecar runs, or it has not answered
function M.answer_at_once(root, method)
  local there, answer, done = M.all[root], nil, false
  if not there or there.connection.state ~= "ready" then
    return nil
  end
  there:request(method, {}, function(problem, result)
    answer, done = not problem and result or nil, true
  end)
  vim.wait(300, function()
    return done
  end)
  return answer
end

return M
