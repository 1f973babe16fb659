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
---@field tail? integer extmark that carries the virtual lines
---@field pictures table<string, fun()> that other plugins draw

---@type table<string, cellgate.Place> by execution
local places = {}
local dirty = {}
local timer

local function position(place)
  if not vim.api.nvim_buf_is_loaded(place.buffer) then
    return nil
  end
  local found = vim.api.nvim_buf_get_extmark_by_id(place.buffer, namespace, place.head, { details = true })
  if #found > 0 then
    return found[1], math.max(found[1], found[3].end_row or found[1])
  end
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
      if not other_first or (other_first <= last and other_last >= first) then
        remove(id)
      end
    end
  end
  local head =
    vim.api.nvim_buf_set_extmark(buffer, namespace, first, 0, { end_row = last, end_col = 0, right_gravity = false })
  places[execution.id] = { buffer = buffer, head = head, offset = code_first - first, pictures = {} }
  M.refresh(execution.id)
end

--- Takes away what stands in a buffer, or at one row of it. The journal keeps it.
---@param buffer integer
---@param row? integer
function M.clear(buffer, row)
  for id, place in pairs(places) do
    if place.buffer == buffer then
      local first, last = position(place)
      if not row or not first or (row >= first and row <= last) then
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
    return agent
      .. "queued"
      .. (execution.position and execution.position > 0 and ", " .. execution.position .. " before it" or ""),
      "Comment"
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

-- The width in which text can stand below a line of a buffer.
local function width_of(buffer)
  local window = vim.fn.bufwinid(buffer)
  if window == -1 then
    return 78
  end
  local info = vim.fn.getwininfo(window)[1]
  return math.max(20, info.width - info.textoff)
end

local function virtual_lines(execution, buffer)
  local width = width_of(buffer)
  local most = config.values.output_lines
  local lines, hidden = execution.outputs:tail(most)
  local rows, guests = {}, {}
  for _, line in ipairs(lines) do
    if line.picture then
      local picture, guest = images.lines(line.picture, width)
      if guest then
        guest.above = #rows
        guests[#guests + 1] = guest
      end
      vim.list_extend(rows, picture)
    else
      vim.list_extend(rows, text.wrap_spans(line.spans, width))
    end
  end
  local over = #rows - most
  -- A picture is shown whole or not at all.
  if over > 0 and not vim.iter(lines):any(function(line)
    return line.picture ~= nil
  end) then
    rows = vim.list_slice(rows, over + 1)
    hidden = hidden + over
  end
  if hidden > 0 then
    table.insert(rows, 1, { { ("… %d more: :Cellgate output"):format(hidden), { "Comment" } } })
    for _, guest in ipairs(guests) do
      guest.above = guest.above + 1
    end
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
  vim.api.nvim_buf_set_extmark(place.buffer, namespace, first, 0, {
    id = place.head,
    end_row = last,
    end_col = 0,
    right_gravity = false,
    virt_text = { { "  " .. words, group } },
    virt_text_pos = "eol",
  })
  local rows, guests = virtual_lines(execution, place.buffer)
  place.tail = vim.api.nvim_buf_set_extmark(place.buffer, namespace, last, 0, {
    id = place.tail,
    virt_lines = rows,
  })
  place.pictures = image_plugins.show(place.pictures, guests, place.buffer, last)
end

local function draw_dirty()
  local now = dirty
  dirty = {}
  for id in pairs(now) do
    local good, problem = xpcall(draw, debug.traceback, id)
    if not good then
      -- Not as an error message: that would wait for a key.
      require("cellgate.log").write("error", "while drawing: " .. problem)
    end
  end
end

--- Draws an execution soon.
---@param id string
function M.refresh(id)
  dirty[id] = true
  if timer then
    return
  end
  timer = vim.defer_fn(function()
    timer = nil
    draw_dirty()
  end, redraw_milliseconds)
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
  if places[execution.id] or not execution.cell or not execution.code or execution.superseded then
    return
  end
  local buffer = workspace.buffer(execution.cell.uri)
  if not buffer then
    return
  end
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
      if same and (not best or math.abs(at - execution.cell.line) < math.abs(best - execution.cell.line)) then
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
  events.on("CellgateExecution", changed)
  events.on("CellgateOutput", changed)
  events.on("CellgateInput", changed)
  events.on("CellgateApproval", M.refresh_all)
  local group = vim.api.nvim_create_augroup("cellgate.render", {})
  vim.api.nvim_create_autocmd({ "VimResized", "WinResized" }, { group = group, callback = M.refresh_all })
  vim.api.nvim_create_autocmd("ColorScheme", {
    group = group,
    callback = function()
      text.forget_groups()
      M.refresh_all()
    end,
  })
  -- While something runs its seconds count.
  local seconds_timer = assert(vim.uv.new_timer())
  seconds_timer:start(
    1000,
    1000,
    vim.schedule_wrap(function()
      for id in pairs(places) do
        local execution = session.execution(id)
        if execution and execution.state == "running" then
          M.refresh(id)
        end
      end
    end)
  )
end

return M
