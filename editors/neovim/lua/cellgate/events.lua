-- `events` is the plugin's list of events and their listeners: functions within the plugin, `User` autocommands of the
-- same names outside. It is the interface for statuslines and scripts; `:h cellgate-events` describes it.
local M = {}

--- Event to what its data holds.
M.names = {
  CellgateConnection = "a workspace's connection changed: `{ root, state }`",
  CellgateKernel = "a kernel's status changed: `{ root, session, status, reason }`",
  CellgateExecution = "an execution moved on: `{ root, execution, state, agent }`",
  CellgateChanges = "an execution or an undo changed files: `{ root, execution, files, undo_of }`",
  CellgateOutput = "an execution has more output: `{ root, execution }`",
  CellgateApproval = "what waits for an answer changed: `{ root, waiting, approval, decision }`",
  CellgateElicitation = "a tool server's question came or went: `{ root, waiting, elicitation, action }`",
  CellgateLogin = "a login at a tool server began or ended: `{ root, server, status, message }`",
  CellgateInput = "code waits for a line of input, or does not any more: `{ root, execution }`",
}

local listeners = {}

---@param name string
---@param listener fun(data: table)
function M.on(name, listener)
  assert(M.names[name], name)
  listeners[name] = listeners[name] or {}
  table.insert(listeners[name], listener)
end

---@param name string
---@param data table
function M.emit(name, data)
  assert(M.names[name], name)
  for _, listener in ipairs(listeners[name] or {}) do
    listener(data)
  end
  -- Of output there may be thousands in a second.
  if name ~= "CellgateOutput" or next(vim.api.nvim_get_autocmds({ event = "User", pattern = name })) then
    vim.api.nvim_exec_autocmds("User", { pattern = name, modeline = false, data = data })
  end
end

return M
