-- `notify` shows the user a message in one row, because more would stop Neovim until a key is pressed. The log has all
-- of it.
local text = require("cellgate.text")

local M = {}

--- As much of `words` as fits into so many cells, with a hint at the rest.
---@param words string that is visible as it is
---@param room integer cells
---@return string
function M.truncate(words, room)
  if vim.fn.strdisplaywidth(words) <= room then
    return words
  end
  local rest = " … :Cellgate log"
  -- Where there is hardly room for words, the hint would take all of it.
  if vim.fn.strdisplaywidth(rest) > room / 2 then
    rest = "…"
  end
  local left = room - vim.fn.strdisplaywidth(rest)
  return (left > 0 and text.wrap(words, left, "")[1] or "") .. rest
end

---@param words string
---@param level? integer
function M.show(words, level)
  words = "cellgate: " .. text.visible((words:gsub("\n", " ")))
  local one_row = M.truncate(words, math.max(1, vim.v.echospace))
  if one_row ~= words then
    require("cellgate.log").write("info", words)
  end
  -- Clears the last message, with which it would have two rows.
  vim.cmd.redraw()
  vim.notify(one_row, level or vim.log.levels.INFO)
end

return M
