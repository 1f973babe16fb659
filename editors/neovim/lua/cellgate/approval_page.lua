-- `approval_page` is a window's text about approvals. It records when the text was first drawn, and that its last row
-- was: only what Neovim drew counts as shown, not what was put into a buffer.
local approvals = require("cellgate.approvals")

local M = {}

local watching = vim.api.nvim_create_namespace("cellgate.approvals.drawn")
local colours = vim.api.nvim_create_namespace("cellgate.approvals.rows")

---@class cellgate.Page
---@field rows cellgate.Row[]
---@field items cellgate.PendingApproval[] all of which the rows show
---@field shows cellgate.Shown what of them
---@field drawn_at? number when it was first drawn as it is
---@field end_drawn? boolean

---@type table<integer, cellgate.Page> by buffer
local pages = {}

vim.api.nvim_set_decoration_provider(watching, {
  on_win = function(_, _, buffer)
    local page = pages[buffer]
    if not page then
      return false
    end
    page.drawn_at = page.drawn_at or approvals.now()
  end,
  on_line = function(_, _, buffer, row)
    local page = pages[buffer]
    -- A form's text has other lines once its user has written into it.
    if row == vim.api.nvim_buf_line_count(buffer) - 1 then
      page.end_drawn = true
      approvals.set_shown(page.items, page.shows)
    end
  end,
})

--- A buffer for rows.
---@param filetype string
---@return integer
function M.new(filetype)
  local buffer = vim.api.nvim_create_buf(false, true)
  vim.bo[buffer].bufhidden = "wipe"
  vim.bo[buffer].filetype = filetype
  M.forget_with(buffer)
  return buffer
end

--- For a buffer that `new` has not made: its page ends with it.
---@param buffer integer
function M.forget_with(buffer)
  vim.api.nvim_buf_attach(buffer, false, {
    on_detach = function()
      pages[buffer] = nil
    end,
  })
end

--- Puts rows into a buffer, in place of those that were there.
---@param buffer integer
---@param rows cellgate.Row[]
---@param items cellgate.PendingApproval[]
---@param shows cellgate.Shown
function M.fill(buffer, rows, items, shows)
  vim.bo[buffer].modifiable = true
  vim.api.nvim_buf_set_lines(
    buffer,
    0,
    -1,
    false,
    vim.tbl_map(function(row)
      return row.text
    end, rows)
  )
  vim.bo[buffer].modifiable = false
  vim.api.nvim_buf_clear_namespace(buffer, colours, 0, -1)
  for i, row in ipairs(rows) do
    if row.group then
      vim.api.nvim_buf_set_extmark(buffer, colours, i - 1, 0, { end_col = #row.text, hl_group = row.group })
    end
  end
  pages[buffer] = { rows = rows, items = items, shows = shows }
end

---@param buffer integer
---@return number? when it was first drawn as it is
function M.drawn_at(buffer)
  return pages[buffer] and pages[buffer].drawn_at
end

---@param buffer integer
---@return boolean
function M.was_drawn_to_its_end(buffer)
  return pages[buffer] ~= nil and pages[buffer].end_drawn == true
end

--- Restarts the half second in which no key counts.
---@param buffer integer
function M.restart_quiet_time(buffer)
  pages[buffer].drawn_at = approvals.now()
end

---@param buffer integer
---@param line integer from 1
---@return cellgate.Row?
function M.row(buffer, line)
  return pages[buffer].rows[line]
end

---@param window integer
function M.set_window_options(window)
  for name, value in pairs({
    -- No row is longer than the window, so none wraps, and none can be shifted out to the left either.
    wrap = true,
    foldenable = false,
    conceallevel = 0,
    list = false,
    spell = false,
    scrolloff = 0,
  }) do
    vim.wo[window][name] = value
  end
end

--- A user may have closed it, and while the command-line window is open none can be.
---@param window? integer
function M.close(window)
  if window and vim.api.nvim_win_is_valid(window) then
    pcall(vim.api.nvim_win_close, window, true)
  end
end

return M
