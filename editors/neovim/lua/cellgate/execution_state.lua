-- `execution_state` describes the state of an execution in few words, for the line of its cell and for lists.
local changes_words = require("cellgate.changes_words")
local session = require("cellgate.session")
local text = require("cellgate.text")

local M = {}

local function seconds(value)
  return value < 10 and ("%.1f s"):format(value) or ("%d s"):format(value)
end

--- The state of an execution in few words.
---@param execution cellgate.Execution
---@return string words
---@return string highlight group
function M.describe(execution)
  local agent = execution.agent and (text.visible(execution.agent) .. ": ") or ""
  local result = execution.result
  if execution.problem then
    return agent .. "did not finish: " .. text.visible((execution.problem:gsub("\n", " "))), "DiagnosticError"
  elseif execution.input then
    return agent .. "reads a line: :Cellgate input", "DiagnosticWarn"
  elseif execution.state == "queued" then
    if execution.waits_behind then
      return ("%squeued, %d of other agents before it"):format(agent, execution.waits_behind), "Comment"
    end
    local before = session.all[execution.root]:before(execution)
    return agent .. "queued" .. (before > 0 and (", %d before it"):format(before) or ""), "Comment"
  elseif execution.state == "running" then
    local waiting = 0
    for _, each in ipairs(session.waiting()) do
      waiting = waiting + (each.approval.executionId == execution.id and 1 or 0)
    end
    for _, each in ipairs(session.elicitations()) do
      waiting = waiting + (each.elicitation.executionId == execution.id and 1 or 0)
    end
    if waiting > 0 then
      return agent .. (waiting == 1 and "waits for your answer" or ("waits for %d answers"):format(waiting)),
        "DiagnosticWarn"
    end
    local since = execution.began and (vim.uv.hrtime() - execution.began) / 1e9
    return agent
      .. "running"
      .. (since and since >= 1 and (" %d s"):format(since) or "")
      .. (execution.progress and ", " .. text.visible(execution.progress) or ""),
      "DiagnosticInfo"
  elseif result then
    local count = type(result.executionCount) == "number" and ("[%d] "):format(result.executionCount) or ""
    local changed = changes_words.changed(session.all[execution.root], execution.id)
    return agent
      .. count
      .. result.status
      .. (result.reason and " (" .. text.visible(result.reason) .. ")" or "")
      .. " "
      .. seconds(result.durationSeconds - result.waitedSeconds)
      .. (changed and ", " .. changed or ""),
      result.status == "ok" and "DiagnosticOk" or "DiagnosticError"
  end
  return agent .. "finished", "Comment"
end

return M
