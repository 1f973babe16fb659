-- `list_window` is a window with a list. A row may have a value that a key acts on; after an action the list is read
-- again.
local events = require("cellgate.events")
local notify = require("cellgate.notify")
local rpc = require("cellgate.rpc")
local scratch = require("cellgate.scratch")
local text = require("cellgate.text")

local M = {}

---@class cellgate.ListRow
---@field text string
---@field group? string highlight
---@field value? any what a key acts on
---@field id? string by which the row is known when the list is read again

---@class cellgate.ListKey
---@field does string
---@field act fun(value: any, refresh: fun())
---@field anywhere? true also at a row without a value

---@class cellgate.List
---@field name string
---@field root string workspace
---@field session? string kernel
---@field read fun(done: fun(problem: string?, rows: cellgate.ListRow[]?))
---@field keys table<string, cellgate.ListKey>
---@field events? string[] after which it is read again
---@field cut? true a row with a value takes one line of the window; its keys show all of it

---@type table<integer, { events: string[], refresh: fun() }> by buffer
local watching = {}

for _, name in ipairs({ "CellgateExecution", "CellgateKernel", "CellgateApproval", "CellgateLogin", "CellgateChanges" }) do
  events.on(name, function()
    for _, each in pairs(watching) do
      if vim.list_contains(each.events, name) then
        each.refresh()
      end
    end
  end)
end

local namespace = vim.api.nvim_create_namespace("cellgate.list_window")

local function identity(row)
  return row.id or row.text
end

-- What a row is shown as.
---@param row cellgate.ListRow
---@param cells? integer in which one with a value has to fit
local function shown(row, cells)
  local line = text.visible(row.text)
  if not cells or row.value == nil or vim.fn.strdisplaywidth(line) <= cells then
    return line
  end
  return text.head(line, cells - 1) .. "…"
end

-- The cells of a line of text, in the narrowest window of the buffer.
---@param buffer integer
---@return integer?
local function cells_of(buffer)
  local least
  for _, window in ipairs(vim.fn.win_findbuf(buffer)) do
    local info = vim.fn.getwininfo(window)[1]
    least = math.min(least or math.huge, info.width - info.textoff)
  end
  return least
end

-- Puts rows into the buffer. Each window's cursor stays at the row that it was at. Where that row has gone it goes to
-- the top, so that a key does not act on the row that came into its place.
local function fill(buffer, old, new, cut)
  local cells = cut and cells_of(buffer) or nil
  local was = {}
  for _, window in ipairs(vim.fn.win_findbuf(buffer)) do
    was[window] = old[vim.api.nvim_win_get_cursor(window)[1]]
  end
  vim.bo[buffer].modifiable = true
  vim.api.nvim_buf_clear_namespace(buffer, namespace, 0, -1)
  vim.api.nvim_buf_set_lines(
    buffer,
    0,
    -1,
    false,
    vim.tbl_map(function(row)
      return shown(row, cells)
    end, new)
  )
  vim.bo[buffer].modifiable = false
  vim.bo[buffer].modified = false
  for i, row in ipairs(new) do
    if row.group then
      vim.api.nvim_buf_set_extmark(buffer, namespace, i - 1, 0, { line_hl_group = row.group })
    end
  end
  for window, row in pairs(was) do
    local line = 1
    for i, each in ipairs(new) do
      line = identity(each) == identity(row) and i or line
    end
    vim.api.nvim_win_set_cursor(window, { line, vim.api.nvim_win_get_cursor(window)[2] })
  end
end

--- Opens a list, and reads it.
---@param list cellgate.List
---@return fun()? refresh that reads it again
function M.open(list)
  local buffer, trouble =
    scratch.open({ name = list.name, filetype = "cellgate-list", root = list.root, session = list.session })
  if not buffer then
    notify.show(trouble --[[@as string]], vim.log.levels.WARN)
    return
  end
  local rows = {} ---@type cellgate.ListRow[]
  local function refresh()
    list.read(function(problem, found)
      if not vim.api.nvim_buf_is_valid(buffer) then
        return
      end
      local old = rows
      rows = { { text = "", group = "Comment" } }
      local keys = {}
      for key, what in vim.spairs(list.keys) do
        keys[#keys + 1] = key .. " " .. what.does
      end
      keys[#keys + 1] = "q close"
      rows[1].text = table.concat(keys, "   ")
      vim.list_extend(rows, problem and { { text = problem, group = "DiagnosticError" } } or found)
      if #rows == 1 then
        rows[2] = { text = "none" }
      end
      fill(buffer, old, rows, list.cut)
    end)
  end
  for key, what in pairs(list.keys) do
    vim.keymap.set("n", key, function()
      local row = rows[vim.api.nvim_win_get_cursor(0)[1]]
      if row and (row.value ~= nil or what.anywhere) then
        what.act(row.value, refresh)
      end
    end, { buffer = buffer, nowait = true })
  end
  vim.keymap.set("n", "q", "<Cmd>close<CR>", { buffer = buffer, nowait = true })
  if list.events then
    watching[buffer] = { events = list.events, refresh = refresh }
    vim.api.nvim_create_autocmd("BufWipeout", {
      buffer = buffer,
      callback = function()
        watching[buffer] = nil
      end,
    })
  end
  refresh()
  return refresh
end

--- A time of the protocol, as the clock here shows it; of another day, with that day.
---@param rfc3339 string
---@return string
function M.clock_time(rfc3339)
  local as_if_local = vim.fn.strptime("%Y-%m-%dT%H:%M:%S", rfc3339:sub(1, 19))
  local sign, hours, minutes = os.date("%z", as_if_local):match("([+-])(%d%d)(%d%d)")
  local offset = hours * 3600 + minutes * 60
  local time = as_if_local + (sign == "-" and -offset or offset)
  local today = os.date("%Y-%m-%d") == os.date("%Y-%m-%d", time)
  return os.date(today and "%H:%M:%S" or "%Y-%m-%d %H:%M:%S", time)
end

--- Tells the problem of an answer, or goes on.
---@param next_step fun(result: any)
---@return fun(problem: any, result: any)
function M.or_tell(next_step)
  return function(problem, result)
    if problem then
      notify.show(rpc.describe(problem), vim.log.levels.ERROR)
    else
      next_step(result)
    end
  end
end

--- Reads a list by a request: what its rows are follows from the answer.
---@param here cellgate.Session
---@param method string
---@param params table
---@param rows_of fun(result: any): cellgate.ListRow[]
---@return fun(done: fun(problem: string?, rows: cellgate.ListRow[]?))
function M.by_request(here, method, params, rows_of)
  return function(done)
    here:request(method, params, function(problem, result)
      if problem then
        done(rpc.describe(problem))
      else
        done(nil, rows_of(result))
      end
    end)
  end
end

--- Reads a list by several requests without parameters, whose answers it follows from.
---@param here cellgate.Session
---@param methods string[]
---@param rows_of fun(...: any): cellgate.ListRow[]
---@return fun(done: fun(problem: string?, rows: cellgate.ListRow[]?))
function M.by_requests(here, methods, rows_of)
  return function(done)
    local answers = {}
    local function ask(i)
      if not methods[i] then
        return done(nil, rows_of(unpack(answers)))
      end
      here:request(methods[i], {}, function(problem, result)
        if problem then
          return done(rpc.describe(problem))
        end
        answers[i] = result
        ask(i + 1)
      end)
    end
    ask(1)
  end
end

--- Shows what came from outside, in a buffer of its own.
---@param what cellgate.Scratch
---@param words string
function M.show_text(what, words)
  what.lines = vim.tbl_map(function(line)
    return text.visible(line)
  end, vim.split(words, "\n", { plain = true }))
  local _, problem = scratch.open(what)
  if problem then
    notify.show(problem, vim.log.levels.WARN)
  end
end

return M
