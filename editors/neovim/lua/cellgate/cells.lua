-- `cells` finds the cells of a buffer: between lines that begin with a comment and `%%`, or the fenced blocks of a
-- Markdown file. Rows are counted from 0. It reads buffers and changes none.
local workspace = require("cellgate.workspace")

local M = {}

---@class cellgate.Cell
---@field first integer row of its marker or, without one, of its first line
---@field code_first integer row at which the code begins
---@field code_last integer row of the last line of code that is not blank; before code_first: there is none
---@field last integer last row
---@field language? string what its fence, or its marker in brackets, says
---@field timeout? number seconds that its marker gives it: `# %% timeout=10`
---@field fenced? boolean between fences
---@field markdown? boolean prose, which is not run

local prose_filetypes = { markdown = true, quarto = true, rmd = true }

-- What a comment of this buffer begins with, and what it ends with.
local function comment_of(buffer)
  local before, after = vim.bo[buffer].commentstring:match("^(.-)%%s(.*)$")
  if before and vim.trim(before) ~= "" then
    return { before = vim.trim(before), after = vim.trim(after) }
  end
  return { before = "#", after = "" }
end

-- A comment, and then %%: of any language with #, //, --, ;, %, and as the buffer's language writes one.
local function marker(line, comment)
  -- Most lines are none.
  if not line:find("%%", 1, true) and not line:find("In", 1, true) then
    return nil
  end
  local rest = line:match("^%s*[#/%-;%%]+%s*%%%%(.*)$")
  local text = vim.trim(line)
  if not rest and vim.startswith(text, comment.before) then
    rest = text:sub(#comment.before + 1):match("^%s*%%%%(.*)$")
  end
  if not rest and line:find("^%s*#%s*In%s*%[%d*%s?%]") then
    rest = ""
  end
  return rest
end

local function with_code_end(lines, cell)
  local last = cell.last
  while last >= cell.code_first and not lines[last + 1]:find("%S") do
    last = last - 1
  end
  cell.code_last = last
  return cell
end

--- A marker as the buffer's language writes one.
---@param buffer integer
---@return string
function M.new_marker(buffer)
  local comment = comment_of(buffer)
  return comment.before .. " %%" .. (comment.after ~= "" and " " .. comment.after or "")
end

-- "[bash]" in a marker's text; other words in brackets are a part of the title.
local function named_language(rest)
  for name in rest:gmatch("%[([%w_+-]+)%]") do
    if workspace.knows(name:lower()) then
      return name:lower()
    end
  end
end

-- Seconds in a marker's text; none where that is no time.
local function named_timeout(rest)
  local seconds = tonumber((rest .. " "):match("%stimeout=(%d+%.?%d*)%s"))
  return seconds and seconds > 0 and seconds or nil
end

local function script_cells(lines, comment)
  local cells, current = {}, nil
  for i, line in ipairs(lines) do
    local rest = marker(line, comment)
    if rest then
      if current then
        current.last = i - 2
        cells[#cells + 1] = current
      end
      current = {
        first = i - 1,
        code_first = i,
        language = named_language(rest),
        timeout = named_timeout(rest),
        markdown = rest:find("[markdown]", 1, true) ~= nil or nil,
      }
    elseif not current then
      current = { first = 0, code_first = 0 }
    end
  end
  if current then
    current.last = #lines - 1
    cells[#cells + 1] = current
  end
  return cells
end

local function fenced_cells(lines)
  local cells, current = {}, nil
  for i, line in ipairs(lines) do
    local fence, info = line:match("^ ? ? ?(```+)%s*(.-)%s*$")
    if not fence then
      fence, info = line:match("^ ? ? ?(~~~+)%s*(.-)%s*$")
    end
    if current then
      if fence and info == "" and fence:sub(1, #current.fence) == current.fence then
        current.cell.last = i - 1
        if current.cell.language then
          current.cell.body_last = i - 2
          cells[#cells + 1] = current.cell
        end
        current = nil
      end
    elseif fence then
      -- `python`, `{python}`, `{.python .numberLines}`, `python title="x"`
      local language = info:match("^{?%.?([%w_+-]+)")
      current = {
        fence = fence,
        cell = { first = i - 1, code_first = i, language = language and language:lower(), fenced = true },
      }
    end
  end
  return cells
end

--- The cells of a buffer, from its top.
---@param buffer integer
---@return cellgate.Cell[]
function M.all(buffer)
  local lines = vim.api.nvim_buf_get_lines(buffer, 0, -1, false)
  if prose_filetypes[vim.bo[buffer].filetype] then
    return vim.tbl_map(function(cell)
      local whole = cell.last
      cell.last = cell.body_last
      with_code_end(lines, cell)
      cell.last, cell.body_last = whole, nil
      return cell
    end, fenced_cells(lines))
  end
  return vim.tbl_map(function(cell)
    return with_code_end(lines, cell)
  end, script_cells(lines, comment_of(buffer)))
end

--- Those that can be run: with code in them, and not prose.
---@param buffer integer
---@return cellgate.Cell[]
function M.runnable(buffer)
  return vim.tbl_filter(function(cell)
    return not cell.markdown and cell.code_last >= cell.code_first
  end, M.all(buffer))
end

--- The cell that a row is in.
---@param buffer integer
---@param row integer
---@return cellgate.Cell?
function M.at(buffer, row)
  for _, cell in ipairs(M.all(buffer)) do
    if row >= cell.first and row <= cell.last then
      return cell
    end
  end
end

--- The first cell behind a row, or the last before the one that the row is in.
---@param buffer integer
---@param row integer
---@param backward? boolean
---@return cellgate.Cell?
function M.next(buffer, row, backward)
  local found
  for _, cell in ipairs(M.all(buffer)) do
    if backward then
      if cell.first < row then
        found = cell
      end
    elseif cell.first > row then
      return cell
    end
  end
  return found
end

-- So many lines are looked at before what the user types is.
local lines_at_once = 5000

---@type table<integer, { tick: integer, filetype: string, has?: boolean, waiting: fun()[] }> by buffer
local looks = {}

local function begins_a_cell(buffer)
  if prose_filetypes[vim.bo[buffer].filetype] then
    return function(line)
      -- A fence that names a language.
      return line:find("^ ? ? ?[`~][`~][`~]+%s*{?%.?[%w_+-]") ~= nil
    end
  end
  local comment = comment_of(buffer)
  return function(line)
    return marker(line, comment) ~= nil
  end
end

--- Whether one of some rows begins a cell.
---@param buffer integer
---@param first integer
---@param last integer
---@return boolean
function M.any_begins(buffer, first, last)
  return vim.iter(vim.api.nvim_buf_get_lines(buffer, first, last + 1, false)):any(begins_a_cell(buffer))
end

--- Calls `done` if a buffer has cells: lines that mark them, or fences with a language. A short buffer is looked at
--- now, of a long one the rest between what the user types.
---@param buffer integer
---@param done fun()
function M.when_any(buffer, done)
  local look = looks[buffer]
  local tick, filetype = vim.api.nvim_buf_get_changedtick(buffer), vim.bo[buffer].filetype
  if look and look.tick == tick and look.filetype == filetype then
    if look.has then
      done()
    elseif look.has == nil then
      table.insert(look.waiting, done)
    end
    return
  end
  look = { tick = tick, filetype = filetype, waiting = { done } }
  looks[buffer] = look
  local function from(first)
    if not vim.api.nvim_buf_is_loaded(buffer) or looks[buffer] ~= look then
      return
    end
    look.has = M.any_begins(buffer, first, first + lines_at_once - 1)
    if look.has then
      for _, each in ipairs(look.waiting) do
        each()
      end
    elseif first + lines_at_once < vim.api.nvim_buf_line_count(buffer) then
      look.has = nil
      vim.defer_fn(function()
        from(first + lines_at_once)
      end, 1)
    end
  end
  from(0)
end

--- Forgets what is known of a buffer.
---@param buffer integer
function M.forget(buffer)
  looks[buffer] = nil
end

-- --- moving and selecting

--- Puts the cursor on the first line of code of the next or previous cell, `count` times.
---@param backward? boolean
function M.jump(backward)
  local buffer = vim.api.nvim_get_current_buf()
  local mode = vim.fn.mode(1)
  if mode == "n" then
    vim.cmd.normal({ "m'", bang = true })
  end
  for _ = 1, vim.v.count1 do
    local from = vim.api.nvim_win_get_cursor(0)[1] - 1
    local here = M.at(buffer, from)
    if backward and here and from <= here.code_first then
      -- Already at its begin; from within a cell it is first to there.
      from = here.first
    end
    local cell = M.next(buffer, from, backward)
    if not cell then
      return
    end
    -- What an operator goes over ends before the next cell's marker: else two cells would become one.
    local row = mode:find("^no") and not backward and cell.first or cell.code_first
    vim.api.nvim_win_set_cursor(0, { math.min(row, vim.api.nvim_buf_line_count(buffer) - 1) + 1, 0 })
  end
end

--- Selects the cell at the cursor, linewise: its code, or (`around`) with its marker or fences.
---@param around boolean
function M.select(around)
  local buffer = vim.api.nvim_get_current_buf()
  local cell = M.at(buffer, vim.api.nvim_win_get_cursor(0)[1] - 1)
  if not cell or (not around and cell.code_last < cell.code_first) then
    return
  end
  local first = around and cell.first or cell.code_first
  local last = around and cell.last or cell.code_last
  if vim.fn.mode():find("[vV\22]") then
    vim.cmd.normal({ "\27", bang = true })
  end
  vim.api.nvim_win_set_cursor(0, { first + 1, 0 })
  vim.cmd.normal({ "V", bang = true })
  vim.api.nvim_win_set_cursor(0, { last + 1, 0 })
end

return M
