-- `render` draws executions at their cells: at the first line the state, below the last line the end of the output. It
-- draws at most twenty times a second for all cells together, from what the sessions hold.
local config = require("cellgate.config")
local events = require("cellgate.events")
local execution_state = require("cellgate.execution_state")
local output_rows = require("cellgate.output_rows")
local places = require("cellgate.places")
local session = require("cellgate.session")
local text = require("cellgate.text")

local M = {}

local redraw_milliseconds = 50

local dirty = {}
local moved = {} ---@type table<integer, true> buffers whose lines changed
local timer, seconds_timer

local function draw(id)
  local execution = session.execution(id)
  local buffer, row = places.of(id)
  if not execution or not buffer then
    return
  end
  local words, group = execution_state.describe(execution)
  local width = output_rows.width_of(buffer)
  local rows, guests = output_rows.of(execution, width)
  local line = vim.api.nvim_buf_get_lines(buffer, row, row + 1, false)[1]
  if execution.problem and vim.fn.strdisplaywidth(line .. "  " .. words) > width then
    vim.list_extend(rows, text.wrap_spans({ { words, { group } } }, width))
  end
  places.show(id, { words = words, group = group }, rows, guests)
  if execution.state == "running" then
    M.count_seconds()
  end
end

--- While something runs its seconds count.
function M.count_seconds()
  seconds_timer = seconds_timer
    or vim.defer_fn(function()
      seconds_timer = nil
      for _, id in ipairs(places.ids()) do
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
    for _, id in ipairs(places.find_again(buffer)) do
      dirty[id] = true
    end
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

places.placed = M.refresh

places.lines_changed = function(buffer)
  moved[buffer] = true
  draw_soon()
end

--- Draws everything soon.
function M.refresh_all()
  for _, id in ipairs(places.ids()) do
    M.refresh(id)
  end
end

function M.setup()
  local function changed(data)
    local execution = session.execution(data.execution)
    if execution then
      places.find(execution)
      M.refresh(data.execution)
    end
  end
  events.on("CellgateExecution", function(data)
    changed(data)
    -- Those that wait have one less before them.
    for _, id in ipairs(places.ids()) do
      local other = session.execution(id)
      if other and other.state == "queued" then
        M.refresh(id)
      end
    end
  end)
  events.on("CellgateOutput", changed)
  events.on("CellgateInput", changed)
  events.on("CellgateChanges", M.refresh_all)
  events.on("CellgateApproval", M.refresh_all)
  events.on("CellgateElicitation", M.refresh_all)
  if config.values.images == "auto" then
    require("cellgate.kitty").ask(vim.schedule_wrap(M.refresh_all))
  end
  local group = vim.api.nvim_create_augroup("cellgate.render", {})
  vim.api.nvim_create_autocmd({ "VimResized", "WinResized" }, { group = group, callback = M.refresh_all })
  vim.api.nvim_create_autocmd("ColorScheme", {
    group = group,
    callback = function()
      text.remake_groups()
      M.refresh_all()
    end,
  })
end

return M
