-- Completion from the live kernel: what there is in its variables, not what a file says. The kernel answers at once
-- or not at all.
local cells = require("cellgate.cells")
local session = require("cellgate.session")
local workspace = require("cellgate.workspace")

local M = {}

local patience_milliseconds = 500

local matches = {}

-- The code of the cell up to the cursor, so that a name on an earlier line is known too.
local function code_to_cursor(buffer)
  local position = vim.api.nvim_win_get_cursor(0)
  local cell = cells.at(buffer, position[1] - 1)
  local first = cell and math.min(cell.code_first, position[1] - 1) or position[1] - 1
  local lines = vim.api.nvim_buf_get_lines(buffer, first, position[1], false)
  lines[#lines] = lines[#lines]:sub(1, position[2])
  return table.concat(lines, "\n"), cell
end

--- 'omnifunc'
---@param findstart integer
---@return integer|table[]
function M.omnifunc(findstart)
  if findstart == 0 then
    return matches
  end
  matches = {}
  local buffer = vim.api.nvim_get_current_buf()
  local here = session.all[workspace.root(buffer)]
  if not here or here.state ~= "ready" then
    return -3
  end
  local code, cell = code_to_cursor(buffer)
  local cursor = vim.fn.strchars(code)
  local reply
  local done = false
  here:request("kernel/complete", {
    sessionId = workspace.session(workspace.language(buffer, cell)) or "default",
    code = code,
    cursorPos = cursor,
  }, function(problem, result)
    done = true
    reply = not problem and result or nil
  end)
  vim.wait(patience_milliseconds, function()
    return done
  end, 5)
  if not reply or #reply.matches == 0 then
    return -3
  end
  for _, match in ipairs(reply.matches) do
    if not match:find("%c") then
      matches[#matches + 1] = { word = match, menu = "[kernel]" }
    end
  end
  local typed = vim.fn.strcharpart(code, reply.cursorStart, cursor - reply.cursorStart)
  return vim.api.nvim_win_get_cursor(0)[2] - #typed
end

return M
