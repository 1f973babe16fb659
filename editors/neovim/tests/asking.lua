-- `asking` is what specs about approvals share: a fake sidecar that asks, a clock, keys, and a look at the screen.
local M = {}

local clock

--- Waits until everything that was scheduled has run.
function M.turn()
  local turned = false
  vim.schedule(function()
    turned = true
  end)
  wait(function()
    return turned
  end, "a turn of the loop")
end

--- A Neovim of 100 by 40 that is connected to a fake sidecar.
---@return cellgate.FakeSidecar
function M.start()
  -- What the spec before put off, and the windows that it opens.
  M.turn()
  vim.cmd("silent! %bwipeout!")
  package.loaded.fake_sidecar = nil
  local fake_sidecar = require("fake_sidecar")
  vim.o.columns, vim.o.lines = 100, 40
  require("cellgate").start()
  local fake = fake_sidecar.install()
  fake_sidecar.connect("/tmp")
  clock = 10000
  require("cellgate.approvals").now = function()
    return clock
  end
  fake.answers["approval/respond"] = function() end
  fake.answers["policy/explain"] = function()
    return { effect = "ask", reason = "no rule" }
  end
  return fake
end

---@param fake cellgate.FakeSidecar
---@param id string
---@param more? table
function M.ask(fake, id, more)
  local session = require("cellgate.session")
  local before = #session.waiting()
  fake:ask(id, more)
  wait(function()
    return #session.waiting() == before + 1
  end, "the approval")
  M.turn()
end

--- What was answered.
---@param fake cellgate.FakeSidecar
function M.answers(fake)
  M.turn()
  return vim.tbl_map(function(message)
    return message.params
  end, fake:asked("approval/respond"))
end

--- The screen is drawn, and time passes.
---@param milliseconds number
function M.see(milliseconds)
  vim.cmd.redraw()
  clock = clock + milliseconds
end

---@param keys string
function M.type_keys(keys)
  vim.api.nvim_feedkeys(vim.keycode(keys), "xt", false)
  M.turn()
end

--- Lines of something to read.
---@param count integer
function M.display(count)
  local lines = { "tool read of fs" }
  for i = 1, count do
    lines[#lines + 1] = ("    | line %d"):format(i)
  end
  return lines
end

---@param milliseconds number
function M.pass(milliseconds)
  clock = clock + milliseconds
end

--- The rows of the screen.
---@return string[]
function M.screen()
  -- Where windows are, and which are closed, is known after a turn that has drawn.
  vim.cmd.redraw()
  M.turn()
  vim.cmd.redraw()
  local rows = {}
  for row = 1, vim.o.lines do
    local cells = {}
    for column = 1, vim.o.columns do
      cells[column] = vim.fn.screenstring(row, column)
    end
    rows[row] = table.concat(cells)
  end
  return rows
end

-- As the sidecar offers them for a tool that reads files.
M.five_choices = {
  { label = "this call", scope = "once" },
  { label = "this exact call, until the cell ends", scope = "execution" },
  {
    label = "read_file anywhere in the workspace, this session",
    scope = "session",
    rule = { effect = "allow", kind = "tool" },
  },
  { label = "any read_file of host, this session", scope = "session", rule = { effect = "allow", kind = "tool" } },
  {
    label = "any read_file of host, this workspace",
    scope = "workspace",
    rule = { effect = "allow", kind = "tool" },
  },
}

---@param columns integer
---@param lines integer
function M.resize(columns, lines)
  vim.o.columns, vim.o.lines = columns, lines
  M.turn()
  M.turn()
end

--- Enters the window whose keys answer.
function M.enter()
  require("cellgate.approval_windows").enter()
end

--- A window of the plugin, and its text.
---@param filetype string
---@return integer? window
---@return string? words
function M.window_of(filetype)
  for _, window in ipairs(vim.api.nvim_list_wins()) do
    local buffer = vim.api.nvim_win_get_buf(window)
    if vim.bo[buffer].filetype == filetype then
      return window, table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), "\n")
    end
  end
end

--- The rows that a window takes, with its border.
---@param filetype string
---@return integer top
---@return integer bottom
function M.extent(filetype)
  local window = assert((M.window_of(filetype)))
  local top = vim.api.nvim_win_get_position(window)[1]
  return top, top + vim.api.nvim_win_get_height(window) + 2
end

--- What the footer of the reader says.
function M.footer()
  M.turn()
  require("cellgate.approval_reader").refresh()
  local _, words = M.window_of("cellgate-choices")
  return words and words:gsub("%s+", " ")
end

---@param words string
---@return boolean
function M.is_shown(words)
  return table.concat(M.screen(), "\n"):find(words, 1, true) ~= nil
end

return M
