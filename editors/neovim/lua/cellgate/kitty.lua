-- Pictures by the kitty graphics protocol with Unicode placeholders: the terminal is given the file once, and draws
-- it wherever certain characters stand, so that it moves, scrolls and goes with the virtual lines.
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
M.most_rows, M.most_columns = 20, 64

local known, last_id = {}, 0

--- Whether the terminal says that it has the protocol. Inside of tmux it cannot be known.
function M.is_there()
  local program = vim.env.TERM_PROGRAM or ""
  return not vim.env.TMUX
    and (
      vim.env.KITTY_WINDOW_ID ~= nil
      or (vim.env.TERM or ""):find("kitty") ~= nil
      or program == "ghostty"
      or program == "WezTerm"
    )
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
  local columns = math.max(1, math.min(width, M.most_columns, math.ceil(across / 10)))
  local rows = math.max(1, math.ceil(columns * down / across / 2))
  if rows > M.most_rows then
    rows, columns = M.most_rows, math.max(1, math.floor(columns * M.most_rows / rows))
  end
  return columns, rows
end

--- Rows of placeholders for a picture, after the terminal was told of it; nil when the file is no PNG.
---@param path string
---@param width integer in cells
---@return cellgate.Span[][]?
function M.rows(path, width)
  local picture = known[path]
  if not picture then
    local across, down = size_of(path)
    if not across or across == 0 or down == 0 then
      return nil
    end
    last_id = last_id % 255 + 1
    local columns, rows = M.fit(across, down, width)
    picture = { id = last_id, columns = columns, rows = rows, group = "CellgatePicture" .. last_id }
    known[path] = picture
    vim.api.nvim_set_hl(0, picture.group, { fg = ("#%06x"):format(picture.id), ctermfg = picture.id })
    compat.write_to_terminal(
      ("\27_Ga=T,U=1,q=2,f=100,t=f,i=%d,c=%d,r=%d;%s\27\\"):format(picture.id, columns, rows, vim.base64.encode(path))
    )
  end
  local lines = {}
  for row = 1, picture.rows do
    local cells = {}
    for column = 1, picture.columns do
      cells[column] = placeholder .. vim.fn.nr2char(marks[row]) .. vim.fn.nr2char(marks[column])
    end
    lines[row] = { { table.concat(cells), { picture.group } } }
  end
  return lines
end

return M
