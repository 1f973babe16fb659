-- `approval_reason` is the small window in which the user types why something is denied. Leaving it answers nothing.
local approvals = require("cellgate.approvals")
local notify = require("cellgate.notify")
local page = require("cellgate.approval_page")

local M = {}

local max_lines = 5

--- Asks for a reason and denies with it.
---@param items cellgate.PendingApproval[]
---@param back fun() to the question
function M.ask(items, back)
  local buffer = page.new("cellgate-reason")
  local width = math.min(72, vim.o.columns - 4)
  local window = vim.api.nvim_open_win(buffer, true, {
    relative = "editor",
    row = math.floor(vim.o.lines / 3),
    col = math.floor((vim.o.columns - width) / 2),
    width = width,
    height = 1,
    style = "minimal",
    border = "rounded",
    title = " why not? for the code ",
    footer = " Enter denies, Esc Esc goes back ",
  })
  local function lines()
    return vim.api.nvim_buf_get_lines(buffer, 0, -1, false)
  end
  vim.keymap.set({ "n", "i" }, "<CR>", function()
    local reason = vim.trim(table.concat(lines(), "\n"))
    vim.cmd.stopinsert()
    page.close(window)
    -- Typing a reason is deliberate enough.
    local problem = approvals.deny(items, reason, -math.huge)
    if problem then
      notify.show(problem, vim.log.levels.WARN)
    end
  end, { buffer = buffer })
  vim.keymap.set("n", "<Esc>", function()
    page.close(window)
    back()
  end, { buffer = buffer })
  vim.api.nvim_create_autocmd({ "TextChanged", "TextChangedI" }, {
    buffer = buffer,
    callback = function()
      -- Pasted text may have several lines.
      vim.api.nvim_win_set_height(window, math.min(#lines(), max_lines))
    end,
  })
  -- Enter, in a window to which the user returns much later, would answer what no user looks at.
  vim.api.nvim_create_autocmd("WinLeave", {
    buffer = buffer,
    callback = vim.schedule_wrap(function()
      if vim.api.nvim_get_current_win() ~= window then
        page.close(window)
      end
    end),
  })
  vim.cmd.startinsert()
end

return M
