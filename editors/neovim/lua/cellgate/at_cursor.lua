-- `at_cursor` finds what a command without a name is about: what is at the cursor of the current window.
local cells = require("cellgate.cells")
local places = require("cellgate.places")
local session = require("cellgate.session")
local workspace = require("cellgate.workspace")

local M = {}

---@return integer
function M.buffer()
  return vim.api.nvim_get_current_buf()
end

---@return integer
function M.row()
  return vim.api.nvim_win_get_cursor(0)[1] - 1
end

---@return cellgate.Session
function M.session()
  return session.of(workspace.root(M.buffer()))
end

--- The execution whose output is at the cursor, or in the cell of the cursor.
---@return cellgate.Execution?
function M.execution()
  local buffer = M.buffer()
  local found = places.at(buffer, M.row())
  if not found then
    local cell = cells.at(buffer, M.row())
    for at = cell and cell.first or 0, cell and cell.last or -1 do
      found = found or places.at(buffer, at)
    end
  end
  return found
end

--- The id of the session whose kernel runs the cell, or whose window it is.
---@return string
function M.kernel()
  local buffer = M.buffer()
  if vim.b[buffer].cellgate_root then
    return vim.b[buffer].cellgate_session or "default"
  end
  local language = workspace.language(buffer, cells.at(buffer, M.row()))
  return language and workspace.session(workspace.root(buffer), language) or "default"
end

return M
