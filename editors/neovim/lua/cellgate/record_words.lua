-- `record_words` is the entries of the record in words. What is not known, or not as its type says, is shown as it is.
local changes_words = require("cellgate.changes_words")
local limits = require("cellgate.limits")
local policy_words = require("cellgate.policy_words")
local text = require("cellgate.text")

local M = {}

local function json(value)
  return (vim.json.encode(value):gsub("\\/", "/"))
end

local function because(reason)
  return reason and ": " .. reason or ""
end

-- What a decision is about.
local function subject(past)
  local action = past.action
  if not action then
    return past.display[1]
  elseif action.kind == "request" then
    return policy_words.request(action)
  elseif action.kind == "output" then
    return policy_words.output(action)
  elseif action.tool then
    return ("%s of %s"):format(action.tool, action.server)
  elseif action.host then
    return ("connect to %s%s"):format(action.host, action.port and " port " .. action.port or "")
  elseif action.kind == "server" then
    return "start " .. action.server
  end
  return action.kind .. " " .. table.concat(action.command or {}, " ")
end

local function first_line(started)
  if started.savedTool then
    return "the saved tool " .. started.savedTool
  elseif not started.code then
    return started.bytes and started.bytes .. " bytes of code" or "code"
  end
  return vim.trim(started.code):match("^[^\n]*")
end

local function exception(problem)
  return problem and (problem.ename or "error") .. because(problem.evalue)
end

local function secret_text(secret)
  local owners = { workspace = " of this workspace", session = " of the session" }
  return "secret " .. secret.name .. (owners[secret.scope] or "")
end

---@type table<string, fun(data: table, decided?: table): string>
local words = {
  ["action.decided"] = function(past)
    local denied = past.by == "noClient" and policy_words.decided_by(past) or "denied"
    return (past.decision == "allow" and "allowed" or denied) .. ": " .. subject(past)
  end,
  ["action.ended"] = function(outcome, decided)
    local what = decided and subject(decided) or ("action " .. outcome.number)
    return (outcome.status == "unknown" and "left to the agent" or outcome.status)
      .. ": "
      .. what
      .. because(outcome.error)
  end,
  ["execution.started"] = function(started)
    return "ran: " .. first_line(started)
  end,
  ["execution.ended"] = function(ended)
    local time = ended.durationSeconds and (", %.1f s"):format(ended.durationSeconds) or ""
    return "ended: " .. ended.status .. time .. because(exception(ended.error) or ended.reason)
  end,
  ["session.created"] = function(created)
    local kernel = type(created.kernel) == "table" and created.kernel.name or created.kernel
    local where = created.sandbox == "none" and ", without a sandbox"
      or created.sandbox and ", in " .. created.sandbox
      or ""
    return "session created" .. because(kernel) .. where
  end,
  ["session.closed"] = function()
    return "session closed"
  end,
  ["limits.changed"] = function(changed)
    return "limits changed: " .. limits.limits_words(changed.limits)
  end,
  ["kernel.started"] = function()
    return "kernel started"
  end,
  ["kernel.ended"] = function(ended)
    return "kernel ended" .. because(ended.reason)
  end,
  ["policy.added"] = function(added)
    return "rule added: " .. policy_words.rule(added.rule)
  end,
  ["policy.removed"] = function(removed)
    return "rule removed: " .. removed.ruleId .. because(removed.reason)
  end,
  ["login.ended"] = function(login)
    return login.error and ("login to %s failed: %s"):format(login.server, login.error)
      or "logged in to " .. login.server
  end,
  ["secret.set"] = function(set)
    return secret_text(set) .. " set"
  end,
  ["secret.deleted"] = function(deleted)
    return secret_text(deleted) .. " deleted"
  end,
  ["secret.used"] = function(used)
    return secret_text(used) .. (used.host and " put into a request to " .. used.host or " given to " .. used.server)
  end,
  ["files.changed"] = function(changed)
    return "changed " .. changes_words.files(changed.files)
  end,
  ["files.restored"] = function(restored)
    return "restored " .. changes_words.files(restored.files)
  end,
  ["record.gap"] = function(gap)
    return gap.dropped .. " entries were not kept: " .. gap.error
  end,
  ["record.pruned"] = function(pruned)
    return ("entries before number %d were removed"):format(pruned.firstKept)
  end,
}

--- What happened.
---@param entry RecordEntry
---@param decided? RecordEntry the decision that allowed what ended
---@return string
function M.line(entry, decided)
  local describe = words[entry.type]
  local known, line = false, nil
  if describe then
    known, line = pcall(describe, entry.data, decided and decided.data)
  end
  return known and line or entry.type .. ": " .. json(entry.data)
end

---@param entry RecordEntry
---@return string? highlight group
function M.group(entry)
  local status = entry.data.status
  if entry.data.decision == "deny" or (status and status ~= "ok" and status ~= "succeeded") then
    return "DiagnosticError"
  end
  return entry.type == "record.gap" and "DiagnosticWarn" or nil
end

-- The fields of what has no words of its own.
local function fields(data)
  local lines = {}
  for name, value in vim.spairs(data) do
    lines[#lines + 1] = name .. ": " .. (type(value) == "string" and value or json(value))
  end
  return table.concat(lines, "\n")
end

--- All of an entry, in lines.
---@param entry RecordEntry
---@param decided? RecordEntry
---@return string
function M.all(entry, decided)
  local head = {
    text.visible(M.line(entry, decided)),
    text.visible(
      ("%s, by %s%s; entry %d"):format(
        entry.time,
        entry.actor == "agent" and type(entry.data.agent) == "string" and "agent " .. entry.data.agent or entry.actor,
        entry.sessionId and ", in session " .. entry.sessionId or "",
        entry.seq
      )
    ),
    "",
  }
  if entry.type == "action.decided" then
    local known, rest = pcall(policy_words.decision, entry.data, entry.time)
    if known then
      return table.concat(head, "\n") .. "\n" .. rest
    end
  end
  return table.concat(head, "\n") .. "\n" .. fields(entry.data)
end

return M
