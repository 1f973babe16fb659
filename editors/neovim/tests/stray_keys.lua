-- `stray_keys` is the part inside Neovim of tests/e2e/neovim/test_stray_keys.py: a user types without looking while an
-- approval appears. Everything follows from the number of the sequence, also the time between keys. The next key is
-- typed when Neovim has done all that the last one asked for and waits, so the screen is drawn between keys, as it is
-- for a user, and an error throws away no typed key.
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
local appear = "<F9>"
vim.keymap.set({ "n", "i", "t" }, enter, approval_windows.enter)
vim.keymap.set({ "n", "i", "x", "s", "o", "c", "t" }, appear, function()
  M.ask()
end)
-- The key behind a sequence, typed until it was heard: those of even and odd numbers differ, so that one which comes
-- late says nothing about the next.
local ends = { [0] = "<F12>", [1] = "<F11>" }
for parity, key in pairs(ends) do
  vim.keymap.set("n", key, function()
    if M.number and M.number % 2 == parity and not M.ended then
      M.finish()
    end
  end)
end
-- What ends Neovim or starts a program, or sleeps.
for _, key in ipairs({ ":", "!", "&", "gs" }) do
  vim.keymap.set({ "n", "x", "o" }, key, "<Nop>")
end
-- An expression aborts every Neovim up to 0.12.4 at least, without any plugin: `i<C-r>=a{b` fails an assertion of what
-- colours it while it is typed.
for _, key in ipairs({ "<C-r>=", "<C-r><C-r>=", "<C-r><C-o>=", "<C-r><C-p>=", "<C-\\>e" }) do
  vim.keymap.set({ "i", "c" }, key, "<Nop>")
end
vim.keymap.set({ "n", "x" }, '"=', "<Nop>")
vim.ui.open = function() end
vim.o.mouse = "a"
vim.o.swapfile = false
vim.o.more = false
-- Room for messages. Without it, Neovim stops for a second before it draws over an error, and its prompt to press Enter
-- would take keys that shall reach the windows.
vim.o.cmdheight = 3
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
  -- A quick typist: all keys after an approval's appearance are within the half second. Maps make many keys of one. One
  -- who never enters the window may take any time.
  clock = M.patient and clock + 150 or math.min(clock + 5, (M.number or 0) * 100000 + 450)
end)

-- --- the keys of a sequence

local function add_keys(out, count, with_enter)
  local first, digits = #out, 0
  for _ = 1, count do
    local from = random(3) == 1 and answers or usual
    local key = from[random(#from)]
    if key:find("^%d$") then
      digits = digits + 1
      key = digits > 2 and "l" or key
    else
      digits = 0
    end
    out[#out + 1] = key
  end
  if with_enter and count > 0 then
    table.insert(out, first + random(count), enter)
  end
end

local modes = { "n", "i", "v", "t" }
local first_keys = { n = {}, i = { "i" }, v = { "v" }, t = { "i" } }

-- With one at which the approval appears, unless it becomes part of a command.
local function keys_of(mode)
  local out = vim.list_slice(first_keys[mode])
  add_keys(out, random(12) - 1)
  out[#out + 1] = appear
  local count, enters = random(25), random(2) == 1
  M.patient = not enters and not M.grabbing
  add_keys(out, count, enters)
  return out
end

-- Out of whatever it is in, lists with a prompt of their own too; the second time, out of what the first was the
-- argument of.
local function leaving()
  return { "<Esc>", "<C-\\>", "<C-n>", "<C-\\>", "<C-n>", ends[M.number % 2] }
end

-- --- typing

local queue, next_key, at_work, about_to = {}, 1, true, false

local function type_next()
  if at_work then
    return
  end
  if next_key > #queue then
    queue, next_key = leaving(), 1
  end
  next_key = next_key + 1
  vim.api.nvim_input(queue[next_key - 1])
end

-- Called whenever Neovim is about to wait. What was put off until then comes before the key, except where Neovim puts
-- it off until after: in the middle of a command.
local typist = assert(vim.uv.new_prepare())
local wake = assert(vim.uv.new_async(function() end))

local function turn()
  if vim.api.nvim_get_mode().blocking then
    type_next()
    wake:send()
  elseif not about_to then
    about_to = true
    vim.schedule(function()
      about_to = false
      type_next()
    end)
    wake:send()
  end
end

-- Makes everything ready for a sequence.
local function prepare(number)
  local mode = modes[number % #modes + 1]
  seed, clock = number * 7919 + 17, number * 100000
  M.number, M.ended = number, false
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
  queue, next_key = keys_of(mode), 1
end

-- Waits while no key is typed.
local function wait_for(condition)
  assert(vim.wait(60000, condition, 1))
end

--- The approval appears; once in a sequence.
function M.ask()
  if M.asked == M.number then
    return
  end
  M.asked = M.number
  M.last = "a" .. M.number
  at_work = true
  fake:ask(M.last)
  wait_for(function()
    return #session.waiting() == 1
  end)
  -- What the plugin put off until after this turn.
  local turned = false
  vim.schedule(function()
    turned = true
  end)
  wait_for(function()
    return turned
  end)
  at_work = false
end

--- Everything of a sequence goes, and the next one begins.
function M.finish()
  M.ask()
  M.ended, at_work = true, true
  if vim.fn.getcmdwintype() ~= "" then
    vim.cmd.quit()
  end
  vim.schedule(function()
    local responses = fake:asked("approval/respond")
    fake:notify("approval/resolved", { approvalId = M.last, decision = "deny", by = "expired" })
    wait_for(function()
      return #session.waiting() == 0
    end)
    vim.rpcnotify(M.channel, "typed", M.number, #responses)
    if M.number < M.last_number then
      prepare(M.number + 1)
      at_work = false
    else
      typist:stop()
    end
  end)
end

--- Types sequences; `channel` is notified of each, with the number of answers that were given.
---@param channel integer
---@param first integer
---@param last integer
function M.run(channel, first, last)
  M.channel, M.last_number = channel, last
  vim.schedule(function()
    prepare(first)
    at_work = false
    typist:start(turn)
  end)
end

--- The controls: without the guard, or with a window that takes the cursor when it appears.
---@param guarded boolean
---@param grabbing boolean
function M.set(guarded, grabbing)
  approvals.guarded = guarded
  M.grabbing = grabbing
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
