-- `session_reattaching` is the part of `cellgate.Session` for coming back after a reload or a crash: it attaches to the
-- kernels' sessions, and reads from the journal what their executions have put out.
local outputs = require("cellgate.outputs")

---@class cellgate.Session
local Reattaching = {}

-- Of an execution that is found after a reload, so much is read from the journal's front; of the rest, the end.
local restored_pages, restored_tail = 8, 32

---@private
---@param peer cellgate.Peer whose sessions they are; all of coming back is asked of the same one
function Reattaching:attach_all(peer, done)
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
function Reattaching:attach(peer, session_id, done)
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
function Reattaching:found(peer, session_id, each)
  local known = self.executions[each.executionId]
  if known and known.state ~= "lost" then
    return
  end
  local execution = known or self:remember(each.executionId, session_id, { cell = each.cell, agent = each.agent })
  execution.state, execution.position, execution.problem = each.state, each.position, nil
  execution.waits_behind = each.waitsBehind
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

--- Reads the output of an execution that was found, if it was not read yet.
---@param execution cellgate.Execution
function Reattaching:load(execution)
  if execution.unread then
    self.connection:ready(function(_, peer)
      if peer then
        self:load_from(peer, execution)
      end
    end)
  end
end

---@private
function Reattaching:load_from(peer, execution)
  local to = execution.unread
  execution.unread = nil
  if to then
    self:restore(peer, execution, 0, to, 0)
  end
end

-- Reads what the journal has, up to the record `to`.
---@private
function Reattaching:restore(peer, execution, from, to, pages)
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
function Reattaching:release(execution)
  local held = execution.held or {}
  execution.held = nil
  for _, record in ipairs(held) do
    self:add_output(execution, record)
  end
  self:emit("CellgateOutput", { execution = execution.id })
end

return Reattaching
