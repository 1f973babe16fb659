-- `text` makes text of code safe to show: colours become highlights, a carriage return goes back to the start of the
-- line, and every other control, bidirectional or invisible character is escaped. Its results can do nothing to a
-- terminal.
local M = {}

-- The colours 16 to 255 of a terminal.
local function palette_colour(index)
  if index >= 232 then
    local grey = 8 + (index - 232) * 10
    return ("#%02x%02x%02x"):format(grey, grey, grey)
  end
  local levels = { [0] = 0, 95, 135, 175, 215, 255 }
  index = index - 16
  return ("#%02x%02x%02x"):format(levels[math.floor(index / 36)], levels[math.floor(index / 6) % 6], levels[index % 6])
end

-- stylua: ignore
local basic = {
  [0] = "#000000", "#cd3131", "#0dbc79", "#b5ba2d", "#2472c8", "#bc3fbc", "#11a8cd", "#c5c5c5",
  "#666666", "#f14c4c", "#23d18b", "#d5d54a", "#3b8eea", "#d670d6", "#29b8db", "#ffffff",
}

-- Of true colour the nearest of the 240, so that code cannot make highlight groups without end.
local function nearest(red, green, blue)
  local function level(value)
    return math.floor((math.max(0, math.min(255, value)) / 255) * 5 + 0.5)
  end
  return 16 + 36 * level(red) + 6 * level(green) + level(blue)
end

---@type table<string, fun(): vim.api.keyset.highlight> what they are now, by the groups that there are
local made = {}

local function group_of(name, definition)
  if not made[name] then
    vim.api.nvim_set_hl(0, name, definition())
    made[name] = definition
  end
  return name
end

local function colour_of(index)
  return index < 16 and (vim.g["terminal_color_" .. index] or basic[index]) or palette_colour(index)
end

--- A change of the colour scheme takes the groups away; text that is shown still uses them.
function M.remake_groups()
  for name, definition in pairs(made) do
    vim.api.nvim_set_hl(0, name, definition())
  end
end

---@class cellgate.Attributes
---@field fg? integer
---@field bg? integer
---@field bold? boolean
---@field italic? boolean
---@field underline? boolean
---@field reverse? boolean
---@field strikethrough? boolean

local switches = { [1] = "bold", [3] = "italic", [4] = "underline", [7] = "reverse", [9] = "strikethrough" }

---@param attributes cellgate.Attributes
---@return string[] groups, to be stacked
local function groups_of(attributes)
  local groups = {}
  local fg, bg = attributes.fg, attributes.bg
  if fg then
    groups[1] = group_of("CellgateFg" .. fg, function()
      return { fg = colour_of(fg), ctermfg = fg }
    end)
  end
  if bg then
    groups[#groups + 1] = group_of("CellgateBg" .. bg, function()
      return { bg = colour_of(bg), ctermbg = bg }
    end)
  end
  for _, name in pairs(switches) do
    if attributes[name] then
      groups[#groups + 1] = group_of("Cellgate_" .. name, function()
        return { [name] = true, cterm = { [name] = true } }
      end)
    end
  end
  return groups
end

---@param attributes cellgate.Attributes changed in place
---@param codes string between ESC [ and m
local function apply_sgr(attributes, codes)
  local numbers = {}
  for code in (codes .. ";"):gmatch("([^;:]*)[;:]") do
    numbers[#numbers + 1] = tonumber(code) or 0
  end
  local i = 1
  while i <= #numbers do
    local code = numbers[i]
    if code == 0 then
      for name in pairs(attributes) do
        attributes[name] = nil
      end
    elseif switches[code] then
      attributes[switches[code]] = true
    elseif code == 22 then
      attributes.bold = nil
    elseif code > 22 and code < 30 and switches[code - 20] then
      attributes[switches[code - 20]] = nil
    elseif code >= 30 and code <= 37 then
      attributes.fg = code - 30
    elseif code >= 90 and code <= 97 then
      attributes.fg = code - 90 + 8
    elseif code >= 40 and code <= 47 then
      attributes.bg = code - 40
    elseif code >= 100 and code <= 107 then
      attributes.bg = code - 100 + 8
    elseif code == 39 then
      attributes.fg = nil
    elseif code == 49 then
      attributes.bg = nil
    elseif code == 38 or code == 48 then
      local which = code == 38 and "fg" or "bg"
      if numbers[i + 1] == 5 then
        local index = numbers[i + 2]
        attributes[which] = index and index < 256 and index or nil
        i = i + 2
      elseif numbers[i + 1] == 2 then
        attributes[which] = nearest(numbers[i + 2] or 0, numbers[i + 3] or 0, numbers[i + 4] or 0)
        i = i + 4
      end
    end
    i = i + 1
  end
end

-- What a reader does not see, or that changes where other characters stand: the same as in the sidecar's
-- escape_unprintable.cpp, in the same order. A spec compares them.
-- stylua: ignore
local invisible = {
  { 0x00, 0x1f },       { 0x7f, 0x9f },       { 0xa0, 0xa0 },       { 0xad, 0xad },
  { 0x34f, 0x34f },     { 0x61c, 0x61c },     { 0x115f, 0x1160 },   { 0x1680, 0x1680 },
  { 0x17b4, 0x17b5 },   { 0x180b, 0x180f },   { 0x2000, 0x200f },   { 0x2028, 0x202f },
  { 0x205f, 0x206f },   { 0x2800, 0x2800 },   { 0x3000, 0x3000 },   { 0x3164, 0x3164 },
  { 0xe000, 0xf8ff },   { 0xfe00, 0xfe0f },   { 0xfeff, 0xfeff },   { 0xffa0, 0xffa0 },
  { 0xfff0, 0xfffb },   { 0x1bca0, 0x1bca3 }, { 0x1d173, 0x1d17a }, { 0xe0000, 0xe0fff },
  { 0xf0000, 0x10ffff },
}

-- Of these, what a terminal acts on, hides or reorders by, and where it draws pictures. Not spaces, icons, and what
-- emoji and scripts are joined by.
-- stylua: ignore
local unprintable = {
  { 0x00, 0x1f }, { 0x7f, 0x9f }, { 0xad, 0xad }, { 0x34f, 0x34f },
  { 0x61c, 0x61c }, { 0x200b, 0x200b }, { 0x200e, 0x200f }, { 0x2028, 0x202e },
  { 0x2060, 0x206f }, { 0xfeff, 0xfeff }, { 0xfff0, 0xfffb }, { 0x1bca0, 0x1bca3 },
  { 0x1d173, 0x1d17a }, { 0xe0000, 0xe0fff }, { 0x10eeee, 0x10eeee },
}

local function is_one_of(ranges, point)
  for _, range in ipairs(ranges) do
    if point <= range[2] then
      return point >= range[1]
    end
  end
  return false
end

-- As Neovim writes them: ^[ and <U+202E>.
local function written_out(point)
  return point < 0x80 and "^" .. string.char(bit.bxor(point, 0x40)) or ("<U+%04X>"):format(point)
end

-- The first bytes of what the tables above hold, beyond ASCII.
local first_of_invisible = "[\194\205\216\225-\227\238\239\240\243\244]"
local first_of_unprintable = "[\194\205\216\226\239\240\243\244]"

local function with_written_out(line, ranges, first_bytes)
  local function character(bytes)
    local first = bytes:byte()
    local length = first < 0xe0 and 2 or first < 0xf0 and 3 or 4
    if #bytes < length then
      return nil
    end
    local point = first % 2 ^ (7 - length)
    for i = 2, length do
      point = point * 64 + bytes:byte(i) % 64
    end
    return is_one_of(ranges, point) and written_out(point) .. bytes:sub(length + 1) or nil
  end
  line = line:gsub("\t", "    "):gsub("[%z\1-\31\127]", function(control)
    return written_out(control:byte())
  end)
  if line:find(first_bytes) then
    line = line:gsub(first_bytes .. "[\128-\191]+", character)
  end
  return line
end

--- One line, with everything in it to be seen. Tabs become blanks.
---@param line string
---@return string
function M.visible(line)
  return with_written_out(line, invisible, first_of_invisible)
end

--- One line of what a cell prints: unusual spaces, icons and emoji stay as they are. Tabs become blanks.
---@param line string
---@return string
function M.printable(line)
  return with_written_out(line, unprintable, first_of_unprintable)
end

-- Sequences that are taken out whole: other than colours they say nothing to a reader.
local function take_escape(line, at)
  local final, after = line:match("^\27%[[0-?]*[ -/]*([@-~])()", at)
  if final then
    return after, final == "m" and line:match("^\27%[([%d;:]*)m", at) or nil
  end
  after = line:match("^\27%][^\7\27]*\7()", at)
    or line:match("^\27[%]P_^X][^\27]*\27\\()", at)
    or line:match("^\27[ -/]*[0-~]()", at)
  return after or at + 1
end

---@class cellgate.Span
---@field [1] string text
---@field [2] string[] highlight groups, to be stacked

--- A line as spans. `attributes` are those at its begin, and afterwards those at its end.
---@param line string without a line feed
---@param attributes cellgate.Attributes
---@return cellgate.Span[]
function M.spans(line, attributes)
  local spans = {}
  local at = 1
  while at <= #line do
    local escape = line:find("\27", at, true)
    if escape ~= at then
      spans[#spans + 1] = { M.printable(line:sub(at, escape and escape - 1)), groups_of(attributes) }
    end
    if not escape then
      break
    end
    local codes
    at, codes = take_escape(line, escape)
    if codes then
      apply_sgr(attributes, codes)
    end
  end
  return spans
end

--- The attributes behind a line, where those before it are known.
---@param line string
---@param attributes cellgate.Attributes
---@return cellgate.Attributes
function M.attributes_after(line, attributes)
  if not line:find("\27[", 1, true) then
    return attributes
  end
  -- Nothing before the last reset has an effect.
  local reset = line:match("^.*\27%[0?m()")
  local after = reset and {} or vim.deepcopy(attributes)
  for codes in line:gmatch("\27%[([%d;:]*)m", reset) do
    apply_sgr(after, codes)
  end
  return after
end

--- What a line is after its carriage returns: what follows one replaces what was there.
---@param line string
---@return string
function M.after_returns(line)
  if not line:find("\r", 1, true) then
    return line
  end
  local shown = ""
  for piece in (line .. "\r"):gmatch("([^\r]*)\r") do
    if #piece >= #shown or piece:find("\27[", 1, true) then
      shown = piece
    else
      -- A shorter piece leaves the end of a longer one. By characters, as a terminal would.
      local count = vim.fn.strchars(piece)
      shown = piece .. vim.fn.strcharpart(shown, count)
    end
  end
  return shown
end

--- The front of a text, of at most `width` cells.
---@param line string that is visible as it is
---@param width integer
---@return string
function M.head(line, width)
  -- No character has more than two cells.
  local count = math.min(vim.fn.strchars(line), math.max(width, 0))
  local head = vim.fn.strcharpart(line, 0, count)
  while vim.fn.strdisplaywidth(head) > math.max(width, 0) do
    count = count - math.max(1, math.floor((vim.fn.strdisplaywidth(head) - width) / 2))
    head = vim.fn.strcharpart(line, 0, count)
  end
  return head
end

--- Text in rows of at most `width` cells. A row that goes on begins the next with `mark`.
---@param line string that is visible as it is
---@param width integer
---@param mark string
---@return string[]
function M.wrap(line, width, mark)
  if #line <= width or vim.fn.strdisplaywidth(line) <= width then
    return { line }
  end
  local rows, row, used = {}, {}, 0
  local mark_width = vim.fn.strdisplaywidth(mark)
  for _, character in ipairs(vim.fn.split(line, "\\zs")) do
    local cells = vim.fn.strdisplaywidth(character)
    if used + cells > width and used > 0 then
      rows[#rows + 1] = table.concat(row)
      row, used = { mark }, mark_width
    end
    row[#row + 1] = character
    used = used + cells
  end
  rows[#rows + 1] = table.concat(row)
  return rows
end

--- Spans in rows of at most `width` cells.
---@param spans cellgate.Span[]
---@param width integer
---@return cellgate.Span[][]
function M.wrap_spans(spans, width)
  local rows, row, used = {}, {}, 0
  local function next_row()
    rows[#rows + 1] = row
    row, used = {}, 0
  end
  local cells_of = setmetatable({}, {
    __index = function(known, character)
      known[character] = vim.fn.strdisplaywidth(character)
      return known[character]
    end,
  })
  for _, span in ipairs(spans) do
    local text, groups = span[1], span[2]
    local is_ascii = not text:find("[\128-\255]")
    local cells = is_ascii and #text or vim.fn.strdisplaywidth(text)
    if used + cells <= width then
      row[#row + 1] = span
      used = used + cells
    elseif is_ascii then
      local at = 1
      while at <= #text do
        if used >= width then
          next_row()
        end
        local piece = text:sub(at, at + width - used - 1)
        row[#row + 1] = { piece, groups }
        used = used + #piece
        at = at + #piece
      end
    else
      local piece = {}
      for _, character in ipairs(vim.fn.split(text, "\\zs")) do
        if used + cells_of[character] > width then
          row[#row + 1] = { table.concat(piece), groups }
          next_row()
          piece = {}
        end
        piece[#piece + 1] = character
        used = used + cells_of[character]
      end
      row[#row + 1] = { table.concat(piece), groups }
    end
  end
  rows[#rows + 1] = row
  return rows
end

return M
