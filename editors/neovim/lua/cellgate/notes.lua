-- `notes` is what the sandbox refused to a cell, or what it misses, and the remedy. Nothing of it happens by itself:
-- the words come from what code did, and the remedy is a command that the user types.
local installs = require("cellgate.installs")
local notify = require("cellgate.notify")
local rpc = require("cellgate.rpc")
local session = require("cellgate.session")
local text = require("cellgate.text")
local tool_servers = require("cellgate.tool_servers")

local M = {}

local function of(execution)
  return execution.result and execution.result.notes or {}
end

local function can_be_done(note)
  return note.rule ~= nil or note.sandbox ~= nil or note.install ~= nil or note.wrappers ~= nil
end

--- A line for each, with the command that does what it says where one can.
---@param execution cellgate.Execution
---@return string[]
function M.lines(execution)
  local lines = {}
  local notes = of(execution)
  for i, note in ipairs(notes) do
    lines[i] = text.visible(note.text) .. ": " .. text.visible(note.remedy)
    if can_be_done(note) then
      lines[i] = lines[i] .. ("; :Cellgate remedy%s does it"):format(#notes > 1 and " " .. i or "")
    end
  end
  return lines
end

--- Does what a note says: adds its rule for the session, restarts the kernel with more in its sandbox, installs a
--- package, or writes wrappers.
---@param execution cellgate.Execution
---@param number? integer of the note, from 1
---@return string? problem
function M.remedy(execution, number)
  local notes = of(execution)
  if not number and #notes > 1 then
    return ("this cell has %d notes: :Cellgate remedy 1"):format(#notes)
  end
  local note = notes[number or 1]
  if not note then
    return "this cell has no such note"
  elseif not can_be_done(note) then
    return "no command does that: " .. note.remedy
  end
  if note.install then
    installs.install(execution.root, note.install, execution.session)
    return
  elseif note.wrappers then
    tool_servers.generate_package(execution.root, note.wrappers)
    return
  end
  local here = session.of(execution.root)
  local function report(problem)
    if problem then
      notify.show(rpc.describe(problem), vim.log.levels.ERROR)
    else
      notify.show(("done for session %s: %s"):format(execution.session, note.remedy))
    end
  end
  if note.rule then
    here:request("policy/add", { rule = note.rule, scope = "session", sessionId = execution.session }, report)
  else
    here:request("session/restart", { sessionId = execution.session, sandbox = note.sandbox }, report)
  end
end

return M
