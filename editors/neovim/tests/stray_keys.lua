-- The inside of tests/e2e/neovim/test_stray_keys.py: someone types, with eyes elsewhere, while an approval appears.
-- Everything follows from the number of the sequence, the time between keys too.
local approval_windows = require("cellgate.approval_windows")
local approvals = require("cellgate.approvals")
local config = require("cellgate.config")
local events = require("cellgate.events")
local session = require("cellgate.session")

local M = {}

local fake = require("fake_sidecar").install()
require("cellgate").start()
require("fake_sidecar").connect("/tmp")

-- Without an end of Neovim, of the test, or of the evening: no :, !, q, Q, Z, @, K, and counts of at most two digits.
local usual = {}
for character in ("abcdefghijklmnoprstuvwxyzABCDEFGHIJLMNOPRSTUVWXY ,.;/?*#%^$_-=()[]{}'\"`|~\\"):gmatch(".") do
  usual[#usual + 1] = character == "<" and "<lt>" or character
end
-- stylua: ignore
vim.list_extend(usual, {
  "<CR>", "<CR>", "<Esc>", "<Tab>", "<BS>", "<C-c>", "<C-w>", "<C-d>", "<C-u>", "<C-f>", "<C-n>", "<C-p>", "<C-r>", "<C-o>", "<C-y>",
  "<Down>", "<Up>", "<LeftMouse><90,33>", "<LeftMouse><70,3>", "<ScrollWheelDown><90,33>", "<C-w>w", "<C-w>w", "<C-w>j",
})
-- What would answer, and what people type at questions.
local answers = { "1", "2", "3", "4", "5", "9", "d", "D", "e", "x", "y", "Y", "a", "A", "n", "<CR>" }
local enter = "<M-g>"
-- The screen is drawn after each of these, as it is for someone who types slower than a test.
vim.keymap.set({ "n", "i", "t" }, enter, function()
  approval_windows.enter()
  vim.cmd.redraw()
end)
vim.keymap.set({ "n", "i", "x", "s", "o", "c", "t" }, "<F9>", function()
  M.ask()
end)
-- The key behind a sequence, which may be sent more than once: those of even and odd numbers differ, so that one which
-- comes late says nothing about the next.
for parity, key in pairs({ [0] = "<F12>", [1] = "<F11>" }) do
  vim.keymap.set("n", key, function()
    if M.number and M.number % 2 == parity then
      M.ask()
      M.typed = M.number
    end
  end)
end
for _, key in ipairs({ ":", "!", "&" }) do
  vim.keymap.set({ "n", "x", "o" }, key, "<Nop>")
end
vim.ui.open = function() end
vim.o.mouse = "a"
vim.o.swapfile = false
vim.o.more = false
vim.o.timeoutlen = 20
-- With it, Neovim stops for a second where a message stands in the place of the mode.
vim.o.showmode = false

local seed, clock = 0, 0
local function random(most)
  -- Enough for choosing keys, and the same everywhere.
  seed = (seed * 1103515245 + 12345) % 2147483648
  return math.floor(seed / 65536) % most + 1
end

approvals.now = function()
  return clock
end
vim.on_key(function()
  -- A quick typist: all keys after an approval's appearance lie within the half second. Maps make many keys of one.
  clock = math.min(clock + 5, (M.number or 0) * 100000 + 450)
end)

local function keys(count, with_enter)
  local out, digits = {}, 0
  for i = 1, count do
    local from = random(3) == 1 and answers or usual
    local key = from[random(#from)]
    if key:find("^%d$") then
      digits = digits + 1
      key = digits > 2 and "l" or key
    else
      digits = 0
    end
    out[i] = key
  end
  if with_enter and count > 0 then
    table.insert(out, random(count), enter)
  end
  return table.concat(out)
end

local modes = { n = "", i = "i", v = "v", t = "i" }

--- Makes everything ready for a sequence.
---@param number integer
---@param mode "n"|"i"|"v"|"t"
---@return string keys with one at which the approval appears, unless it becomes part of a command
function M.prepare(number, mode)
  seed, clock = number * 7919 + 17, number * 100000
  M.number = number
  fake.spy.requests = {}
  -- Or what is put becomes longer and longer.
  for register in ("abcdefghijklmnopqrstuvwxyz0123456789-"):gmatch(".") do
    vim.fn.setreg(register, {})
  end
  vim.cmd("silent! tabonly!")
  for _, window in ipairs(vim.api.nvim_list_wins()) do
    if vim.api.nvim_win_get_config(window).relative ~= "" then
      pcall(vim.api.nvim_win_close, window, true)
    end
  end
  vim.cmd("silent! only!")
  vim.cmd("silent! enew!")
  vim.cmd("silent! %bwipeout!")
  if mode == "t" then
    vim.api.nvim_open_term(0, {
      on_input = function() end,
    })
  else
    vim.api.nvim_buf_set_lines(0, 0, -1, false, { "one two three", "four five six", "1 2 3 4 5", "yes no allow deny" })
  end
  return modes[mode] .. keys(random(12) - 1) .. "<F9>" .. keys(random(25), random(2) == 1)
end

--- The approval appears, and is drawn; once in a sequence.
function M.ask()
  if M.asked == M.number then
    return
  end
  M.asked = M.number
  M.last = "a" .. M.number
  fake:ask(M.last)
  assert(vim.wait(60000, function()
    return #session.waiting() == 1
  end, 1))
  -- What the plugin put off until after this turn.
  local turned = false
  vim.schedule(function()
    turned = true
  end)
  assert(vim.wait(60000, function()
    return turned
  end, 1))
  vim.cmd.redraw()
end

--- Everything of this sequence goes.
---@return integer answers that were given
function M.finish()
  local responses = fake:asked("approval/respond")
  fake:notify("approval/resolved", { approvalId = M.last, decision = "deny", by = "expired" })
  assert(vim.wait(60000, function()
    return #session.waiting() == 0
  end, 1))
  return #responses
end

--- The controls: without the guard, or with a window that takes the cursor when it appears.
---@param guarded boolean
---@param grabbing boolean
function M.set(guarded, grabbing)
  approvals.guarded = guarded
  config.values.preview = not grabbing
  if grabbing then
    events.on("CellgateApproval", function(data)
      if not data.decision then
        approval_windows.enter()
      end
    end)
  end
end

return M
