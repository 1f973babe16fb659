-- For specs about approvals: a fake sidecar that asks, a clock of its own, and keys.
local M = {}

local clock

--- What was put off until after this turn has happened.
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
  -- What the one before put off, and the windows that come of it.
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
  -- Where windows stand, and which have gone, is known after a turn that has drawn.
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

return M
