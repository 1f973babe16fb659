-- `output_window` is a window with all output of an execution: read from the journal page by page as the user scrolls,
-- and followed while it runs.
local events = require("cellgate.events")
local images = require("cellgate.images")
local notify = require("cellgate.notify")
local outputs = require("cellgate.outputs")
local rpc = require("cellgate.rpc")
local scratch = require("cellgate.scratch")
local session = require("cellgate.session")
local text = require("cellgate.text")

local M = {}

local namespace = vim.api.nvim_create_namespace("cellgate.output")

---@class cellgate.OutputView
---@field buffer integer
---@field execution cellgate.Execution
---@field next_seq integer
---@field complete boolean
---@field reading boolean
---@field is_empty boolean
---@field open_line? string text of the last line, while it may go on
---@field open_stream? string which stream it is of
---@field attributes? cellgate.Attributes before it

---@type table<integer, cellgate.OutputView> by buffer
local views = {}

local function append_lines(view, lines)
  local at = vim.api.nvim_buf_line_count(view.buffer)
  if view.is_empty then
    at, view.is_empty = 0, false
  end
  local plain = vim.tbl_map(function(line)
    local parts = {}
    for _, span in ipairs(line) do
      parts[#parts + 1] = span[1]
    end
    return table.concat(parts)
  end, lines)
  vim.api.nvim_buf_set_lines(view.buffer, at, -1, false, plain)
  for i, line in ipairs(lines) do
    local column = 0
    for _, span in ipairs(line) do
      for _, group in ipairs(span[2]) do
        vim.api.nvim_buf_set_extmark(
          view.buffer,
          namespace,
          at + i - 1,
          column,
          { end_col = column + #span[1], hl_group = group }
        )
      end
      column = column + #span[1]
    end
  end
end

-- Printed text. A line without its line feed is replaced when more of it comes.
local function append_stream(view, output)
  local group = output.name == "stderr" and "DiagnosticWarn" or nil
  local printed = output.text
  if view.open_line and view.open_stream == output.name then
    printed = view.open_line .. printed
    vim.api.nvim_buf_set_lines(view.buffer, -2, -1, false, {})
    view.is_empty = vim.api.nvim_buf_line_count(view.buffer) == 1
      and vim.api.nvim_buf_get_lines(view.buffer, 0, 1, false)[1] == ""
  else
    view.attributes = {}
  end
  local pieces = vim.split(printed, "\n", { plain = true })
  view.open_line, view.open_stream = nil, output.name
  if pieces[#pieces] == "" then
    table.remove(pieces)
  else
    view.open_line = pieces[#pieces]
  end
  local lines = {}
  for i, piece in ipairs(pieces) do
    local is_open = view.open_line and i == #pieces
    local spans = text.spans(text.after_returns(piece), is_open and vim.deepcopy(view.attributes) or view.attributes)
    for _, span in ipairs(group and spans or {}) do
      table.insert(span[2], 1, group)
    end
    lines[i] = spans
  end
  append_lines(view, lines)
end

local function add_record(view, record)
  local output = record.output
  if output and output.output_type == "stream" then
    append_stream(view, output)
    return
  end
  view.open_line = nil
  local holder = outputs.new()
  if output and output.output_type == "update_display_data" then
    output = vim.tbl_extend("force", output, { output_type = "display_data" })
    record = { output = output, files = record.files }
  end
  holder:add(record)
  local lines = {}
  for _, item in ipairs(holder.items) do
    for _, line in ipairs(outputs.item_lines(item, true)) do
      if line.picture then
        local path = images.file(line.picture)
        lines[#lines + 1] = { { "picture: " .. text.visible(path or "cannot be read"), { "Underlined" } } }
      else
        lines[#lines + 1] = line:spans()
      end
    end
  end
  append_lines(view, lines)
end

local function at_end(view)
  local window = vim.fn.bufwinid(view.buffer)
  return window ~= -1
    and vim.fn.line("w$", window) + vim.api.nvim_win_get_height(window) >= vim.api.nvim_buf_line_count(view.buffer)
end

local function read_more(view)
  if view.reading or view.complete or not at_end(view) then
    return
  end
  view.reading = true
  -- Scrolling connects nothing that a user left.
  session.all[view.execution.root]:read_output(view.execution.id, view.next_seq, function(problem, page)
    view.reading = false
    if not vim.api.nvim_buf_is_valid(view.buffer) then
      return
    end
    vim.bo[view.buffer].modifiable = true
    if problem then
      append_lines(view, { { { text.visible(rpc.describe(problem)), { "DiagnosticError" } } } })
      view.complete = true
    else
      for _, record in ipairs(page.records) do
        add_record(view, record)
      end
      view.complete = page.complete
      local went_on = page.nextSeq > view.next_seq
      view.next_seq = page.nextSeq
      if went_on then
        -- A window that shows the end shows what follows.
        vim.schedule(function()
          read_more(view)
        end)
      end
    end
    vim.bo[view.buffer].modifiable = false
    vim.bo[view.buffer].modified = false
  end)
end

--- Opens the output of an execution below the current window.
---@param execution cellgate.Execution
function M.open(execution)
  local name = "output/" .. execution.id
  local old = scratch.find(name)
  if old then
    vim.api.nvim_buf_delete(old, { force = true })
  end
  local buffer, problem = scratch.open({
    name = name,
    filetype = "cellgate-output",
    root = execution.root,
    session = execution.session,
  })
  if not buffer then
    notify.show(problem --[[@as string]], vim.log.levels.WARN)
    return
  end
  local view =
    { buffer = buffer, execution = execution, next_seq = 0, complete = false, reading = false, is_empty = true }
  views[buffer] = view
  vim.bo[buffer].modifiable = false
  vim.keymap.set("n", "q", "<Cmd>close<CR>", { buffer = buffer, nowait = true })
  vim.api.nvim_create_autocmd({ "CursorMoved", "WinScrolled" }, {
    buffer = buffer,
    callback = function()
      read_more(view)
    end,
  })
  vim.api.nvim_create_autocmd("BufWipeout", {
    buffer = buffer,
    callback = function()
      views[buffer] = nil
    end,
  })
  session.of(execution.root)
  read_more(view)
end

local function follow(data)
  for _, view in pairs(views) do
    if view.execution.id == data.execution then
      if data.state == "finished" then
        view.complete = false
      end
      read_more(view)
    end
  end
end

function M.setup()
  events.on("CellgateOutput", follow)
  events.on("CellgateExecution", follow)
end

return M
