-- `output_rows` makes the virtual lines below a cell: the end of its output, a question of `input()`, and its notes.
local config = require("cellgate.config")
local images = require("cellgate.images")
local notes = require("cellgate.notes")
local text = require("cellgate.text")

local M = {}

--- The width of text below a line of a buffer: of several windows that show it, the narrowest one's.
---@param buffer integer
---@return integer
function M.width_of(buffer)
  local width
  for _, window in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
    if vim.api.nvim_win_get_buf(window) == buffer then
      local info = vim.fn.getwininfo(window)[1]
      width = math.min(width or math.huge, info.width - info.textoff)
    end
  end
  return math.max(20, width or 78)
end

-- The last `most` rows of an output's lines, from the end: of long lines only those are split that are shown. A
-- picture is shown whole or not at all.
local function tail_rows(outputs, most, width)
  local lines, hidden = outputs:tail(most)
  local groups, count = {}, 0
  for i = #lines, 1, -1 do
    local line = lines[i]
    if count >= most then
      hidden = hidden + 1
    else
      local group
      if line.picture then
        local rows, guest = images.lines(line.picture, width)
        group = { rows = rows, guest = guest }
      else
        local rows = text.wrap_spans(line:spans(), width)
        local over = math.max(0, count + #rows - most)
        hidden = hidden + over
        group = { rows = vim.list_slice(rows, over + 1) }
      end
      table.insert(groups, 1, group)
      count = count + #group.rows
    end
  end
  return groups, hidden
end

--- The rows for an execution, and the pictures that other plugins draw among them.
---@param execution cellgate.Execution
---@param width integer
function M.of(execution, width)
  local groups, hidden = tail_rows(execution.outputs, config.values.output_lines, width)
  local rows, guests = {}, {}
  if hidden > 0 then
    rows[1] = { { ("… %d more: :Cellgate output"):format(hidden), { "Comment" } } }
  end
  for _, group in ipairs(groups) do
    if group.guest then
      group.guest.above = #rows
      guests[#guests + 1] = group.guest
    end
    vim.list_extend(rows, group.rows)
  end
  if execution.input then
    rows[#rows + 1] = { { "? " .. text.visible(execution.input.prompt), { "DiagnosticWarn" } } }
  end
  for _, line in ipairs(notes.lines(execution)) do
    vim.list_extend(rows, text.wrap_spans({ { line, { "DiagnosticHint" } } }, width))
  end
  for _, row in ipairs(rows) do
    if #row == 0 then
      row[1] = { "", {} }
    end
  end
  return rows, guests
end

return M
