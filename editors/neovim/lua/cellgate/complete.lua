-- `complete` is the completion from the live kernel: it offers what the kernel's variables have, not what a file
-- contains. It never blocks: the answer is shown when it arrives, if the cursor is still at the same place.
local cells = require("cellgate.cells")
local session = require("cellgate.session")
local workspace = require("cellgate.workspace")

local M = {}

-- The code of the cell up to the cursor, so that a name on an earlier line is known too.
local function code_to_cursor(buffer)
  local position = vim.api.nvim_win_get_cursor(0)
  local cell = cells.at(buffer, position[1] - 1)
  local first = cell and math.min(cell.code_first, position[1] - 1) or position[1] - 1
  local lines = vim.api.nvim_buf_get_lines(buffer, first, position[1], false)
  lines[#lines] = lines[#lines]:sub(1, position[2])
  return table.concat(lines, "\n"), cell
end

local function place()
  return { vim.api.nvim_get_current_buf(), vim.api.nvim_buf_get_changedtick(0), vim.api.nvim_win_get_cursor(0) }
end

--- 'omnifunc'
---@param findstart integer
---@return integer|table[]
function M.omnifunc(findstart)
  if findstart == 0 then
    return {}
  end
  local buffer = vim.api.nvim_get_current_buf()
  local here = session.all[workspace.root(buffer)]
  if not here or here.connection.state ~= "ready" then
    return -3
  end
  local code, cell = code_to_cursor(buffer)
  local language = workspace.language(buffer, cell)
  if not language then
    return -3
  end
  local cursor = vim.fn.strchars(code)
  local asked_at = place()
  here:request("kernel/complete", {
    sessionId = workspace.session(here.root, language),
    code = code,
    cursorPos = cursor,
  }, function(problem, result)
    if problem or #result.matches == 0 or vim.fn.mode() ~= "i" or not vim.deep_equal(place(), asked_at) then
      return
    end
    local items = {}
    for i, match in ipairs(result.matches) do
      items[i] = { word = match, menu = "[kernel]", kind = result.types and result.types[i] }
    end
    local typed = vim.fn.strcharpart(code, result.cursorStart, cursor - result.cursorStart)
    vim.fn.complete(asked_at[3][2] - #typed + 1, items)
  end)
  -- No message, and out of the completion mode of this moment.
  return -3
end

return M
