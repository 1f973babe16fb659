-- What stands at a cell: at its first line the state, the count and the time, below its last line the end of its
-- output as virtual lines. Drawn at most twenty times a second for all cells together, from what the session holds.
local cells = require("cellgate.cells")
local config = require("cellgate.config")
local events = require("cellgate.events")
local image_plugins = require("cellgate.image_plugins")
local images = require("cellgate.images")
local notes = require("cellgate.notes")
local session = require("cellgate.session")
local text = require("cellgate.text")
local workspace = require("cellgate.workspace")

local M = {}

local namespace = vim.api.nvim_create_namespace("cellgate")
local redraw_milliseconds = 50

---@class cellgate.Place where an execution's output stands
---@field buffer integer
---@field head integer extmark at the first line; its end is the last
---@field offset integer from that line to the first line of code
---@field row integer where the code was last
---@field tail? integer extmark that carries the virtual lines
---@field pictures table<string, fun()> that other plugins draw

---@type table<string, cellgate.Place> by execution
local places = {}
local dirty = {}
local moved = {} ---@type table<integer, true> buffers whose lines changed
local followed = {} ---@type table<integer, true> buffers whose lines are listened to
local timer, seconds_timer

-- The rows of a place; none while its lines are deleted, until an undo.
local function position(place)
  if not vim.api.nvim_buf_is_loaded(place.buffer) then
    return nil
  end
  local found = vim.api.nvim_buf_get_extmark_by_id(place.buffer, namespace, place.head, { details = true })
  -- Neovim 0.10 does not call all of them invalid that hold nothing any more.
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

-- A mark of whole lines, which goes with them and comes back with them.
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

local function remove(id)
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

--- The execution whose output stands at a row, and the rows of its code.
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

--- Puts an execution's output below rows of a buffer, in place of what stood there.
---@param execution cellgate.Execution
---@param buffer integer
---@param first integer
---@param last integer
---@param code_first integer where the code itself begins
function M.place(execution, buffer, first, last, code_first)
  for id, place in pairs(places) do
    if place.buffer == buffer then
      local other_first, other_last = position(place)
      if other_first and other_first <= last and other_last >= first then
        remove(id)
      end
    end
  end
  if places[execution.id] then
    remove(execution.id)
  end
  places[execution.id] = {
    buffer = buffer,
    head = set_mark(buffer, first, last, {}),
    offset = code_first - first,
    row = code_first,
    pictures = {},
  }
  M.follow(buffer)
  M.refresh(execution.id)
end

--- Takes away what stands in a buffer, or at one row of it. The journal keeps it.
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
        remove(id)
      end
    end
  end
end

local function seconds(value)
  return value < 10 and ("%.1f s"):format(value) or ("%d s"):format(value)
end

--- The state of an execution in few words.
---@param execution cellgate.Execution
---@return string words
---@return string highlight group
function M.state_words(execution)
  local agent = execution.agent and (text.visible(execution.agent) .. ": ") or ""
  local result = execution.result
  if execution.problem then
    return agent .. "did not finish: " .. text.visible((execution.problem:gsub("\n", " "))), "DiagnosticError"
  elseif execution.input then
    return agent .. "reads a line: :Cellgate input", "DiagnosticWarn"
  elseif execution.state == "queued" then
    local before = session.before(execution)
    return agent .. "queued" .. (before > 0 and (", %d before it"):format(before) or ""), "Comment"
  elseif execution.state == "running" then
    local waiting = 0
    for _, each in ipairs(session.waiting()) do
      waiting = waiting + (each.approval.executionId == execution.id and 1 or 0)
    end
    if waiting > 0 then
      return agent .. (waiting == 1 and "waits for your answer" or ("waits for %d answers"):format(waiting)),
        "DiagnosticWarn"
    end
    local since = execution.began and (vim.uv.hrtime() - execution.began) / 1e9
    return agent .. "running" .. (since and since >= 1 and (" %d s"):format(since) or ""), "DiagnosticInfo"
  elseif result then
    local count = type(result.executionCount) == "number" and ("[%d] "):format(result.executionCount) or ""
    return agent
      .. count
      .. result.status
      .. (result.reason and " (" .. text.visible(result.reason) .. ")" or "")
      .. " "
      .. seconds(result.durationSeconds - result.waitedSeconds),
      result.status == "ok" and "DiagnosticOk" or "DiagnosticError"
  end
  return agent .. "finished", "Comment"
end

-- The width in which text can stand below a line of a buffer: of several windows that show it, the narrowest one's.
local function width_of(buffer)
  local width
  for _, window in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
    if vim.api.nvim_win_get_buf(window) == buffer then
      local info = vim.fn.getwininfo(window)[1]
      width = math.min(width or math.huge, info.width - info.textoff)
    end
  end
  return math.max(20, width or 78)
end

-- The last `most` rows of an output's lines, from the end: of long lines only those are taken apart that are shown. A
-- picture is shown whole or not at all.
local function tail_rows(outputs, most, width)
  local lines, hidden = outputs:tail(most)
  local groups, count = {}, 0
  for i = #lines, 1, -1 do
    local line = lines[i]
    if count >= most then
      hidden = hidden + 1
    else
      local group
      if line.picture then
        local rows, guest = images.lines(line.picture, width)
        group = { rows = rows, guest = guest }
      else
        local rows = text.wrap_spans(line:spans(), width)
        local over = math.max(0, count + #rows - most)
        hidden = hidden + over
        group = { rows = vim.list_slice(rows, over + 1) }
      end
      table.insert(groups, 1, group)
      count = count + #group.rows
    end
  end
  return groups, hidden
end

local function virtual_lines(execution, width)
  local groups, hidden = tail_rows(execution.outputs, config.values.output_lines, width)
  local rows, guests = {}, {}
  if hidden > 0 then
    rows[1] = { { ("… %d more: :Cellgate output"):format(hidden), { "Comment" } } }
  end
  for _, group in ipairs(groups) do
    if group.guest then
      group.guest.above = #rows
      guests[#guests + 1] = group.guest
    end
    vim.list_extend(rows, group.rows)
  end
  if execution.input then
    rows[#rows + 1] = { { "? " .. text.visible(execution.input.prompt), { "DiagnosticWarn" } } }
  end
  for _, line in ipairs(notes.lines(execution)) do
    vim.list_extend(rows, text.wrap_spans({ { line, { "DiagnosticHint" } } }, width))
  end
  for _, row in ipairs(rows) do
    if #row == 0 then
      row[1] = { "", {} }
    end
  end
  return rows, guests
end

local function draw(id)
  local place, execution = places[id], session.execution(id)
  if not place or not execution then
    return
  end
  if not vim.api.nvim_buf_is_loaded(place.buffer) then
    remove(id)
    return
  end
  local first, last = position(place)
  if not first then
    return
  end
  local words, group = M.state_words(execution)
  local width = width_of(place.buffer)
  local rows, guests = virtual_lines(execution, width)
  local line = vim.api.nvim_buf_get_lines(place.buffer, first, first + 1, false)[1]
  if execution.problem and vim.fn.strdisplaywidth(line .. "  " .. words) > width then
    vim.list_extend(rows, text.wrap_spans({ { words, { group } } }, width))
  end
  place.row = first + place.offset
  set_mark(place.buffer, first, last, {
    id = place.head,
    virt_text = { { "  " .. words, group } },
    virt_text_pos = "eol",
  })
  place.tail = set_mark(place.buffer, last, last, { id = place.tail, virt_lines = rows })
  place.pictures = image_plugins.show(place.pictures, guests, place.buffer, last)
  if execution.state == "running" then
    M.count_seconds()
  end
end

--- While something runs its seconds count.
function M.count_seconds()
  seconds_timer = seconds_timer
    or vim.defer_fn(function()
      seconds_timer = nil
      for id in pairs(places) do
        local execution = session.execution(id)
        if execution and execution.state == "running" then
          M.refresh(id)
        end
      end
    end, 1000)
end

--- Draws now what is to be drawn soon.
function M.draw_dirty()
  for buffer in pairs(moved) do
    M.find_again(buffer)
  end
  local now = dirty
  dirty, moved = {}, {}
  for id in pairs(now) do
    local good, problem = xpcall(draw, debug.traceback, id)
    if not good then
      -- Not as an error message: that would wait for a key.
      require("cellgate.log").write("error", "while drawing: " .. problem)
    end
  end
end

local function draw_soon()
  timer = timer or vim.defer_fn(function()
    timer = nil
    M.draw_dirty()
  end, redraw_milliseconds)
end

--- Draws an execution soon.
---@param id string
function M.refresh(id)
  dirty[id] = true
  draw_soon()
end

--- Listens to the changes of a buffer's lines, as long as something stands there.
---@param buffer integer
function M.follow(buffer)
  followed[buffer] = followed[buffer]
    or vim.api.nvim_buf_attach(buffer, false, {
      on_lines = function()
        moved[buffer] = true
        draw_soon()
      end,
      on_detach = function()
        followed[buffer] = nil
      end,
    })
    or nil
end

--- Draws everything soon.
function M.refresh_all()
  for id in pairs(places) do
    M.refresh(id)
  end
end

-- --- coming back

--- Finds the place of an execution by its document and its code: lines may have moved since.
---@param execution cellgate.Execution
local function find_place(execution)
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
  local near = place and place.row or execution.cell.line
  local code = vim.split((execution.code:gsub("\n$", "")), "\n", { plain = true })
  local lines = vim.api.nvim_buf_get_lines(buffer, 0, -1, false)
  local best
  for at = 0, #lines - #code do
    if lines[at + 1] == code[1] then
      local same = true
      for i = 2, #code do
        if lines[at + i] ~= code[i] then
          same = false
          break
        end
      end
      if same and (not best or math.abs(at - near) < math.abs(best - near)) then
        best = at
      end
    end
  end
  if best then
    -- The line before a cell's code is its marker, where the state stands.
    local cell = cells.at(buffer, best)
    local first = cell and cell.code_first == best and cell.first or best
    local last = cell and cell.language and cell.code_last == best + #code - 1 and cell.last or best + #code - 1
    M.place(execution, buffer, first, last, best)
    session.all[execution.root]:load(execution)
  end
end

--- After a change of lines: what went with its lines stands where they are again, as after a formatter has put the same
--- lines in their place; else nothing of it is shown until an undo.
---@param buffer integer
function M.find_again(buffer)
  if not vim.api.nvim_buf_is_loaded(buffer) then
    return
  end
  for _, id in ipairs(vim.tbl_keys(places)) do
    local place, execution = places[id], session.execution(id)
    if place and place.buffer == buffer and execution then
      if not position(place) then
        find_place(execution)
      end
      if not position(places[id]) then
        hide(places[id])
      end
      -- Its last line may be another one.
      dirty[id] = true
    end
  end
end

--- Shows again what has a place in a buffer that was just read: its marks are gone, or anywhere.
---@param buffer integer
function M.restore(buffer)
  for id, place in pairs(places) do
    if place.buffer == buffer then
      remove(id)
    end
  end
  local uri = workspace.uri(buffer)
  for _, each in pairs(session.all) do
    for _, id in ipairs(each.order) do
      local execution = each.executions[id]
      if execution.cell and execution.cell.uri == uri then
        find_place(execution)
      end
    end
  end
end

function M.setup()
  local function changed(data)
    local execution = session.execution(data.execution)
    if execution then
      find_place(execution)
      M.refresh(data.execution)
    end
  end
  events.on("CellgateExecution", function(data)
    changed(data)
    -- Those that wait have one less before them.
    for id in pairs(places) do
      local other = session.execution(id)
      if other and other.state == "queued" then
        M.refresh(id)
      end
    end
  end)
  events.on("CellgateOutput", changed)
  events.on("CellgateInput", changed)
  events.on("CellgateApproval", M.refresh_all)
  if config.values.images == "auto" then
    require("cellgate.kitty").ask(vim.schedule_wrap(M.refresh_all))
  end
  local group = vim.api.nvim_create_augroup("cellgate.render", {})
  vim.api.nvim_create_autocmd({ "VimResized", "WinResized" }, { group = group, callback = M.refresh_all })
  vim.api.nvim_create_autocmd("ColorScheme", {
    group = group,
    callback = function()
      text.make_groups_anew()
      M.refresh_all()
    end,
  })
end

return M
