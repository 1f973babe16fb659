-- `kitty` draws pictures by the kitty graphics protocol with Unicode placeholders: the terminal receives a picture
-- once, and draws it wherever certain characters are, so it moves and scrolls with the virtual lines. Some terminals of
-- that protocol do not know the placeholders and would draw boxes, so the terminal is asked for its name.
local compat = require("cellgate.compat")

local M = {}

local placeholder = vim.fn.nr2char(0x10EEEE)

-- The marks that number rows and columns, as the protocol lists them; the first 64.
-- stylua: ignore
local marks = {
  0x0305, 0x030D, 0x030E, 0x0310, 0x0312, 0x033D, 0x033E, 0x033F, 0x0346, 0x034A, 0x034B, 0x034C, 0x0350, 0x0351, 0x0352, 0x0357,
  0x035B, 0x0363, 0x0364, 0x0365, 0x0366, 0x0367, 0x0368, 0x0369, 0x036A, 0x036B, 0x036C, 0x036D, 0x036E, 0x036F, 0x0483, 0x0484,
  0x0485, 0x0486, 0x0487, 0x0592, 0x0593, 0x0594, 0x0595, 0x0597, 0x0598, 0x0599, 0x059C, 0x059D, 0x059E, 0x059F, 0x05A0, 0x05A1,
  0x05A8, 0x05A9, 0x05AB, 0x05AC, 0x05AF, 0x05C4, 0x0610, 0x0611, 0x0612, 0x0613, 0x0614, 0x0615, 0x0616, 0x0617, 0x0657, 0x0658,
}
M.max_rows, M.max_columns = 20, 64

-- What is sent to a terminal elsewhere, at most, in bytes of a file; in messages that no other process' output can cut
-- in two; and so many of these in one turn of Neovim.
local max_sent_bytes, max_message_chunk, messages_a_turn = 4 * 1024 * 1024, 3072, 16

local known, count = {}, 0 -- by path: a picture, or false for what cannot be shown
local terminal ---@type string? what it says that it is

--- Whether a terminal draws at placeholders, by its name and version: kitty since 0.28, and ghostty.
---@param name string
function M.draws(name)
  local major, minor = name:match("^kitty%((%d+)%.(%d+)")
  if major then
    return tonumber(major) > 0 or tonumber(minor) >= 28
  end
  return vim.startswith(name, "ghostty")
end

--- Whether the terminal has said that it draws.
function M.is_there()
  return terminal ~= nil and M.draws(terminal)
end

-- Inside of tmux it cannot be known; elsewhere only a terminal is asked that may be one of those.
local function may_draw()
  local name = (vim.env.TERM or "") .. (vim.env.TERM_PROGRAM or "")
  return not vim.env.TMUX and (vim.env.KITTY_WINDOW_ID or name:find("kitty") or name:find("ghostty"))
end

--- Asks the terminal what it is, and each one that comes later.
---@param answered fun() called when it has said so
function M.ask(answered)
  local group = vim.api.nvim_create_augroup("cellgate.kitty", {})
  vim.api.nvim_create_autocmd("TermResponse", {
    group = group,
    callback = function(event)
      local name = compat.term_response(event):match("^\27P>|([^\27]+)")
      if name then
        terminal = name
        answered()
      end
    end,
  })
  local function ask()
    known, terminal = {}, nil
    if may_draw() and #vim.api.nvim_list_uis() > 0 then
      compat.write_to_terminal("\27[>0q") -- XTVERSION
    end
  end
  vim.api.nvim_create_autocmd("UIEnter", { group = group, callback = ask })
  ask()
end

-- Width and height of a PNG, from its header.
local function size_of(path)
  local file = io.open(path, "rb")
  local header = file and file:read(24)
  if file then
    file:close()
  end
  if not header or #header < 24 or header:sub(1, 8) ~= "\137PNG\r\n\26\n" then
    return nil
  end
  local function number(at)
    local a, b, c, d = header:byte(at, at + 3)
    return ((a * 256 + b) * 256 + c) * 256 + d
  end
  return number(17), number(21)
end

--- How many cells a picture takes: one is about twice as high as wide, and ten pixels across is the usual size.
---@param across integer pixels
---@param down integer pixels
---@param width integer that there is, in cells
---@return integer columns
---@return integer rows
function M.fit(across, down, width)
  local columns = math.max(1, math.min(width, M.max_columns, math.ceil(across / 10)))
  local rows = math.max(1, math.ceil(columns * down / across / 2))
  if rows > M.max_rows then
    rows, columns = M.max_rows, math.max(1, math.floor(columns * M.max_rows / rows))
  end
  return columns, rows
end

-- What waits to be sent: a terminal elsewhere may be slow, and the user types meanwhile.
local unsent, sending = {}, false

local function send()
  for _ = 1, math.min(messages_a_turn, #unsent) do
    compat.write_to_terminal(table.remove(unsent, 1))
  end
  sending = #unsent > 0
  if sending then
    vim.defer_fn(send, 10)
  end
end

-- Sends a picture: its path to a terminal on this machine, which reads the file; its content to one elsewhere. Returns
-- whether it could.
local function transmit(picture, path)
  local control = ("a=T,U=1,q=2,f=100,i=%d,c=%d,r=%d"):format(picture.id, picture.columns, picture.rows)
  if not (vim.env.SSH_CONNECTION or vim.env.SSH_TTY) then
    compat.write_to_terminal(("\27_G%s,t=f;%s\27\\"):format(control, vim.base64.encode(path)))
    return true
  end
  local file = io.open(path, "rb")
  local bytes = file and file:read(max_sent_bytes + 1)
  if file then
    file:close()
  end
  if not bytes or #bytes > max_sent_bytes then
    return false
  end
  local content = vim.base64.encode(bytes)
  for at = 1, #content, max_message_chunk do
    local last = at + max_message_chunk > #content
    local head = (at == 1 and control .. ",t=d," or "") .. "m=" .. (last and 0 or 1)
    table.insert(unsent, ("\27_G%s;%s\27\\"):format(head, content:sub(at, at + max_message_chunk - 1)))
  end
  if not sending then
    send()
  end
  return true
end

-- Its number is the colour of its characters, and what is above a byte is in their third mark.
local function next_number()
  local most = 255 * #marks
  count = count % most + 1
  local low, high = (count - 1) % 255 + 1, math.floor((count - 1) / 255)
  return low, high
end

--- Rows of placeholders for a picture, after the terminal has received it; nil when the file is no PNG, or too much to
--- send.
---@param path string
---@param width integer in cells
---@return cellgate.Span[][]?
function M.rows(path, width)
  local picture = known[path]
  if picture == nil then
    local across, down = size_of(path)
    if across and across > 0 and down > 0 then
      local columns, rows = M.fit(across, down, width)
      local low, high = next_number()
      picture = { id = high * 0x1000000 + low, low = low, high = high, columns = columns, rows = rows }
    end
    known[path] = picture and transmit(picture, path) and picture or false
  end
  picture = known[path]
  if not picture then
    return nil
  end
  local group = "CellgatePicture" .. picture.low
  -- Each time: a new colour scheme forgets it.
  vim.api.nvim_set_hl(0, group, { fg = ("#%06x"):format(picture.low), ctermfg = picture.low })
  local mark, lines = vim.fn.nr2char, {}
  for row = 1, picture.rows do
    local cells = {}
    for column = 1, picture.columns do
      cells[column] = placeholder .. mark(marks[row]) .. mark(marks[column]) .. mark(marks[picture.high + 1])
    end
    lines[row] = { { table.concat(cells), { group } } }
  end
  return lines
end

return M
