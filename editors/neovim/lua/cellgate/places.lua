-- `places` is where in buffers the output of executions is shown. A place moves with its lines, is hidden while they
-- are deleted, and is found again by its code after a reload.
local cells = require("cellgate.cells")
local image_plugins = require("cellgate.image_plugins")
local session = require("cellgate.session")
local workspace = require("cellgate.workspace")

local M = {}

local namespace = vim.api.nvim_create_namespace("cellgate")

--- Called after an execution got a place.
---@type fun(id: string)
M.placed = function() end

--- Called after lines of a buffer with places have changed.
---@type fun(buffer: integer)
M.lines_changed = function() end

---@class cellgate.Place where an execution's output is shown
---@field buffer integer
---@field head integer extmark at the first line; its end is the last
---@field offset integer from that line to the first line of code
---@field row integer where the code was last
---@field tail? integer extmark that carries the virtual lines
---@field pictures table<string, fun()> that other plugins draw

---@type table<string, cellgate.Place> by execution
local places = {}
local followed = {} ---@type table<integer, true> buffers whose lines are listened to

-- The rows of a place; none while its lines are deleted, until an undo.
local function position(place)
  if not vim.api.nvim_buf_is_loaded(place.buffer) then
    return nil
  end
  local found = vim.api.nvim_buf_get_extmark_by_id(place.buffer, namespace, place.head, { details = true })
  -- Neovim 0.10 does not mark all of them invalid that hold nothing any more.
  if #found > 0 and not found[3].invalid and found[3].end_row > found[1] then
    return found[1], found[3].end_row - 1
  end
end

-- Leaves of a place whose lines were deleted what an undo brings back.
local function hide(place)
  local found = vim.api.nvim_buf_get_extmark_by_id(place.buffer, namespace, place.head, { details = true })
  if #found > 0 and not found[3].invalid then
    vim.api.nvim_buf_set_extmark(place.buffer, namespace, found[1], 0, {
      id = place.head,
      end_row = found[3].end_row,
      end_col = 0,
      invalidate = true,
      strict = false,
    })
  end
  if place.tail then
    vim.api.nvim_buf_del_extmark(place.buffer, namespace, place.tail)
    place.tail = nil
  end
end

-- A mark of whole lines, which is deleted with them and comes back with them.
local function set_mark(buffer, first, last, more)
  return vim.api.nvim_buf_set_extmark(
    buffer,
    namespace,
    first,
    0,
    vim.tbl_extend("error", more, {
      end_row = last + 1,
      end_col = 0,
      invalidate = true,
      strict = false,
    })
  )
end

--- Takes away what is shown of an execution.
---@param id string
function M.remove(id)
  local place = places[id]
  places[id] = nil
  image_plugins.show(place.pictures, {}, place.buffer, 0)
  if vim.api.nvim_buf_is_valid(place.buffer) then
    vim.api.nvim_buf_del_extmark(place.buffer, namespace, place.head)
    if place.tail then
      vim.api.nvim_buf_del_extmark(place.buffer, namespace, place.tail)
    end
  end
end

--- The execution whose output is shown at a row, and the rows of its code.
---@param buffer integer
---@param row integer
---@return cellgate.Execution? execution
---@return integer? first
---@return integer? last
function M.at(buffer, row)
  for id, place in pairs(places) do
    if place.buffer == buffer then
      local first, last = position(place)
      if first and row >= first and row <= last then
        return session.execution(id), first, last
      end
    end
  end
end

--- Where a line of an execution's document is now, if its cell has moved.
---@param id? string
---@param line integer as the sidecar names it
---@return integer row
function M.row_of(id, line)
  local place, execution = places[id], session.execution(id)
  local first = place and position(place)
  if first and execution and execution.cell then
    return first + place.offset + line - execution.cell.line
  end
  return line
end

--- Where a line of a document is now, as an execution saw it: of its own cell, or of one that ran before it.
---@param uri string
---@param line integer
---@param id string
---@return integer row
function M.row_in(uri, line, id)
  local here = session.all[session.execution(id).root]
  local found, passed
  for i = #here.order, 1, -1 do
    local each = here.executions[here.order[i]]
    passed = passed or each.id == id
    local at = passed and places[each.id] and each.cell and each.cell.uri == uri and each.cell.line
    if at and line >= at and line < at + select(2, each.code:gsub("\n", "")) then
      found = found or each.id
    end
  end
  return M.row_of(found, line)
end

-- Listens to the changes of a buffer's lines, as long as the buffer is loaded.
local function follow(buffer)
  followed[buffer] = followed[buffer]
    or vim.api.nvim_buf_attach(buffer, false, {
      on_lines = function()
        M.lines_changed(buffer)
      end,
      on_detach = function()
        followed[buffer] = nil
      end,
    })
    or nil
end

--- Puts an execution's output below rows of a buffer, in place of what was shown there.
---@param execution cellgate.Execution
---@param buffer integer
---@param first integer
---@param last integer
---@param code_first integer where the code itself begins
function M.put(execution, buffer, first, last, code_first)
  for id, place in pairs(places) do
    if place.buffer == buffer then
      local other_first, other_last = position(place)
      if other_first and other_first <= last and other_last >= first then
        M.remove(id)
      end
    end
  end
  if places[execution.id] then
    M.remove(execution.id)
  end
  places[execution.id] = {
    buffer = buffer,
    head = set_mark(buffer, first, last, {}),
    offset = code_first - first,
    row = code_first,
    pictures = {},
  }
  follow(buffer)
  M.placed(execution.id)
end

--- Takes away what is shown in a buffer, or at one row of it. The journal keeps it.
---@param buffer integer
---@param row? integer
function M.clear(buffer, row)
  for id, place in pairs(places) do
    if place.buffer == buffer then
      local first, last = position(place)
      if not row or (first and row >= first and row <= last) then
        local execution = session.execution(id)
        if execution then
          execution.cleared = true
        end
        M.remove(id)
      end
    end
  end
end

local function begins_with(lines, at, code)
  for i = 1, #code do
    if lines[at + i] ~= code[i] then
      return false
    end
  end
  return true
end

-- The row nearest to another at which a buffer has these lines.
local function nearest(buffer, code, near)
  local lines = vim.api.nvim_buf_get_lines(buffer, 0, -1, false)
  local best
  for at = 0, #lines - #code do
    if begins_with(lines, at, code) and (not best or math.abs(at - near) < math.abs(best - near)) then
      best = at
    end
  end
  return best
end

--- Finds the place of an execution by its document and its code: lines may have moved since.
---@param execution cellgate.Execution
function M.find(execution)
  local place = places[execution.id]
  if
    (place and position(place))
    or execution.cleared
    or execution.superseded
    or not execution.cell
    or not execution.code
  then
    return
  end
  local buffer = place and place.buffer or workspace.buffer(execution.cell.uri)
  if not buffer or not vim.api.nvim_buf_is_loaded(buffer) then
    return
  end
  local code = vim.split((execution.code:gsub("\n$", "")), "\n", { plain = true })
  local best = nearest(buffer, code, place and place.row or execution.cell.line)
  if best then
    -- The line before a cell's code is its marker, where the state is shown.
    local cell = cells.at(buffer, best)
    local first = cell and cell.code_first == best and cell.first or best
    local last = cell and cell.fenced and cell.code_last == best + #code - 1 and cell.last or best + #code - 1
    M.put(execution, buffer, first, last, best)
    session.all[execution.root]:load(execution)
  end
end

--- After a change of lines: a place whose lines were deleted is found where the same lines are again, as after a
--- formatter has replaced them; else it is hidden until an undo.
---@param buffer integer
---@return string[] ids of the executions that may have to be drawn again
function M.find_again(buffer)
  local affected = {}
  if not vim.api.nvim_buf_is_loaded(buffer) then
    return affected
  end
  for _, id in ipairs(vim.tbl_keys(places)) do
    local place, execution = places[id], session.execution(id)
    if place and place.buffer == buffer and execution then
      if not position(place) then
        M.find(execution)
      end
      if not position(places[id]) then
        hide(places[id])
      end
      -- Its last line may be another one.
      affected[#affected + 1] = id
    end
  end
  return affected
end

--- Shows again what has a place in a buffer that was just read: its marks are gone, or anywhere.
---@param buffer integer
function M.restore(buffer)
  for id, place in pairs(places) do
    if place.buffer == buffer then
      M.remove(id)
    end
  end
  local uri = workspace.uri(buffer)
  for _, each in pairs(session.all) do
    for _, id in ipairs(each.order) do
      local execution = each.executions[id]
      if execution.cell and execution.cell.uri == uri then
        M.find(execution)
      end
    end
  end
end

--- Shows words at the end of a place's first line, and rows below its last.
---@param id string
---@param head { words: string, group: string }
---@param rows table[] virtual lines
---@param guests table[] pictures that other plugins draw among them
function M.show(id, head, rows, guests)
  local place = places[id]
  local first, last = position(place)
  place.row = first + place.offset
  set_mark(place.buffer, first, last, {
    id = place.head,
    virt_text = { { "  " .. head.words, head.group } },
    virt_text_pos = "eol",
  })
  place.tail = set_mark(place.buffer, last, last, { id = place.tail, virt_lines = rows })
  place.pictures = image_plugins.show(place.pictures, guests, place.buffer, last)
end

--- The buffer and the first row of an execution's place; none while its lines are deleted.
---@param id string
---@return integer? buffer
---@return integer? row
function M.of(id)
  local place = places[id]
  if place and not vim.api.nvim_buf_is_loaded(place.buffer) then
    M.remove(id)
    return
  end
  local first = place and position(place)
  if first then
    return place.buffer, first
  end
end

--- The ids of the executions that have a place.
---@return string[]
function M.ids()
  return vim.tbl_keys(places)
end

return M
