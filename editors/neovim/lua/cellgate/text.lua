-- Text that code wrote, made safe to show: colours become highlights, a carriage return goes back to the line's
-- begin, and every other control, bidirectional or invisible character is written out. What this returns can do
-- nothing to a terminal.
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

local made = {}

local function group_of(name, definition)
  if not made[name] then
    vim.api.nvim_set_hl(0, name, definition)
    made[name] = true
  end
  return name
end

local function colour_of(index)
  return index < 16 and (vim.g["terminal_color_" .. index] or basic[index]) or palette_colour(index)
end

--- After a change of the colour scheme the groups are made anew.
function M.forget_groups()
  made = {}
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
  if attributes.fg then
    groups[1] = group_of("CellgateFg" .. attributes.fg, { fg = colour_of(attributes.fg), ctermfg = attributes.fg })
  end
  if attributes.bg then
    groups[#groups + 1] =
      group_of("CellgateBg" .. attributes.bg, { bg = colour_of(attributes.bg), ctermbg = attributes.bg })
  end
  for _, name in pairs(switches) do
    if attributes[name] then
      groups[#groups + 1] = group_of("Cellgate_" .. name, { [name] = true, cterm = { [name] = true } })
    end
  end
  return groups
end

---@param attributes cellgate.Attributes changed in place
---@param codes string what stands between ESC [ and m
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

-- Characters that a reader does not see, or that change where others stand: as in the sidecar's VisibleLine.
local invisible = {
  { 0x80, 0x9f },
  { 0xad, 0xad },
  { 0x61c, 0x61c },
  { 0x200b, 0x200f },
  { 0x2028, 0x202e },
  { 0x2060, 0x206f },
  { 0xfeff, 0xfeff },
}

local function visible_character(character)
  local point = vim.fn.char2nr(character, true)
  for _, range in ipairs(invisible) do
    if point >= range[1] and point <= range[2] then
      return ("<U+%04X>"):format(point)
    end
  end
end

local function visible_control(character)
  return "^" .. string.char((character:byte() + 64) % 128)
end

--- One line, with everything in it to be seen. Tabs become blanks.
---@param line string
---@return string
function M.visible(line)
  line = line:gsub("\t", "    "):gsub("[%z\1-\31\127]", visible_control)
  if line:find("[\194\216\226\239]") then
    -- The first bytes of what the table above holds.
    line = line:gsub("[\194\216\226\239][\128-\191]+", visible_character)
  end
  return line
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
      spans[#spans + 1] = { M.visible(line:sub(at, escape and escape - 1)), groups_of(attributes) }
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

--- What a line is after its carriage returns: what follows one stands over what was there.
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
  for _, span in ipairs(spans) do
    local text = span[1]
    local cells = vim.fn.strdisplaywidth(text)
    if used + cells <= width then
      row[#row + 1] = span
      used = used + cells
    else
      local piece = {}
      for _, character in ipairs(vim.fn.split(text, "\\zs")) do
        cells = vim.fn.strdisplaywidth(character)
        if used + cells > width then
          row[#row + 1] = { table.concat(piece), span[2] }
          rows[#rows + 1] = row
          row, used, piece = {}, 0, {}
        end
        piece[#piece + 1] = character
        used = used + cells
      end
      row[#row + 1] = { table.concat(piece), span[2] }
    end
  end
  rows[#rows + 1] = row
  return rows
end

return M
