-- `session_executions` is the part of `cellgate.Session` about executions: running code, and what the sidecar reports
-- about code that runs, for this client or another.
local config = require("cellgate.config")
local outputs = require("cellgate.outputs")
local rpc = require("cellgate.rpc")

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
---@field waits_behind? integer
---@field outputs cellgate.Outputs
---@field next_seq integer the number of the next record
---@field result? ExecuteResult
---@field problem? string why there is no result
---@field began? integer vim.uv.hrtime()
---@field progress? string how far a call is, by its MCP server
---@field input? { prompt: string, password: boolean, answer: fun(value: string?) }
---@field unread? integer records before this number are in the journal only; `load` reads them
---@field held? table[] records that wait for earlier ones from the journal
---@field unsent? boolean the sidecar has not received it yet
---@field cleared? boolean a user took its output away
---@field superseded? boolean another one ran at the same place later

---@class cellgate.Session
local Executions = {}

-- As many as the sidecar reports.
local max_executions = 1000

-- One that is queued or runs is kept: its output and its end are still to come.
---@private
function Executions:evict_finished()
  for i, id in ipairs(self.order) do
    if #self.order <= max_executions then
      return
    elseif vim.list_contains({ "finished", "lost" }, self.executions[id].state) then
      table.remove(self.order, i)
      self.executions[id] = nil
      return
    end
  end
end

---@private
function Executions:remember(id, session_id, more)
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
  self:evict_finished()
  return execution
end

local function new_id()
  return "nvim-" .. vim.uv.random(8):gsub(".", function(byte)
    return ("%02x"):format(byte:byte())
  end)
end

--- Runs code. Events report its progress.
---@param params { code: string, cell?: CellPosition, session?: string, timeout?: number } `timeout`: seconds
---@return cellgate.Execution
function Executions:execute(params)
  local execution =
    self:remember(new_id(), params.session or "default", { code = params.code, cell = params.cell, own = true })
  local function ended(problem, result)
    -- A lost one was reported when the connection ended.
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
      timeoutSeconds = params.timeout,
      changes = config.values.keep_changes,
    }, ended)
  end)
  return execution
end

--- How many executions come before a queued one: as many as the sidecar reported, or as are left of those since.
---@param execution cellgate.Execution
---@return integer
function Executions:before(execution)
  local left = 0
  for _, id in ipairs(self.order) do
    local other = self.executions[id]
    if other == execution then
      break
    elseif other.session == execution.session and (other.state == "queued" or other.state == "running") then
      left = left + 1
    end
  end
  return math.min(left, execution.position or 0)
end

--- Records of an execution, from its front.
---@param id string
---@param from integer
---@param done fun(problem: cellgate.RpcError?, page: OutputReadResult)
function Executions:read_output(id, from, done)
  self:request("output/read", { executionId = id, fromSeq = from, maxBytes = 256 * 1024 }, done)
end

Executions["on execute/changed"] = function(self, params, peer)
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
  execution.position, execution.waits_behind = params.position, params.waitsBehind
  if params.state == "running" then
    execution.began = vim.uv.hrtime()
  end
  -- The end of one's own comes with the result.
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
function Executions:add_output(execution, record)
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

Executions["on execute/output"] = function(self, params)
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

Executions["on execute/progress"] = function(self, params)
  local execution = self.executions[params.executionId]
  if execution then
    execution.progress = params.message and ("%s, %s: %s"):format(params.server, params.tool, params.message)
    self:emit("CellgateExecution", { execution = execution.id, state = execution.state, agent = execution.agent })
  end
end

---@private
function Executions:on_input(params, answer)
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

return Executions
