-- Where approvals are seen and answered: a preview in the corner, which takes neither cursor nor keys; the reader,
-- which a person enters on purpose and whose keys answer; the line for a reason; the buffer for other arguments; and
-- the marks at the lines of code that ask.
local approvals = require("cellgate.approvals")
local config = require("cellgate.config")
local events = require("cellgate.events")
local json_text = require("cellgate.json_text")
local render = require("cellgate.render")
local session = require("cellgate.session")
local workspace = require("cellgate.workspace")

local M = {}

local namespace = vim.api.nvim_create_namespace("cellgate.approvals")
local colours = vim.api.nvim_create_namespace("cellgate.approvals.rows")

-- --- which rows were drawn

---@class cellgate.Shown what a window shows of approvals
---@field rows cellgate.Row[]
---@field items cellgate.Waiting[]
---@field drawn table<integer, true> rows
---@field drawn_at? number when the first of them was

---@type table<integer, cellgate.Shown> by buffer
local shown = {}

-- Which approvals have all of their rows, and all that are everyone's, on the screen.
local function note_displayed(what)
  local missing, missing_common = {}, false
  for i, row in ipairs(what.rows) do
    if not what.drawn[i] then
      if row.item then
        missing[row.item.approval.approvalId] = true
      else
        missing_common = true
      end
    end
  end
  if not missing_common then
    for _, item in ipairs(what.items) do
      if not missing[item.approval.approvalId] then
        approvals.set_displayed(item.approval.approvalId)
      end
    end
  end
end

vim.api.nvim_set_decoration_provider(namespace, {
  on_win = function(_, window, buffer, top)
    local what = shown[buffer]
    if what then
      what.drawn_at = what.drawn_at or approvals.now()
      for i = top + 1, math.min(top + vim.api.nvim_win_get_height(window), #what.rows) do
        what.drawn[i] = true
      end
      note_displayed(what)
    end
    return false
  end,
})

local function new_buffer(filetype)
  local buffer = vim.api.nvim_create_buf(false, true)
  vim.bo[buffer].bufhidden = "wipe"
  vim.bo[buffer].filetype = filetype
  return buffer
end

local function fill(buffer, rows)
  vim.bo[buffer].modifiable = true
  vim.api.nvim_buf_set_lines(
    buffer,
    0,
    -1,
    false,
    vim.tbl_map(function(row)
      return row.text
    end, rows)
  )
  vim.bo[buffer].modifiable = false
  vim.api.nvim_buf_clear_namespace(buffer, colours, 0, -1)
  for i, row in ipairs(rows) do
    if row.group then
      vim.api.nvim_buf_set_extmark(buffer, colours, i - 1, 0, { end_col = #row.text, hl_group = row.group })
    end
  end
end

local function set_window_options(window)
  for name, value in pairs({
    wrap = false,
    foldenable = false,
    conceallevel = 0,
    list = false,
    spell = false,
    scrolloff = 0,
  }) do
    vim.wo[window][name] = value
  end
end

local function close(window)
  if window and vim.api.nvim_win_is_valid(window) then
    vim.api.nvim_win_close(window, true)
  end
end

-- --- the preview

local preview ---@type integer? window

local function hide_preview()
  close(preview)
  preview = nil
end

local reader ---@type cellgate.Reader?
local editing = false -- other arguments are written, which the preview would cover

-- Whether a row of the screen would be under a window of that height in the lower corner: the cursor, or the line
-- that asks.
local function is_low(row, height)
  return row > vim.o.lines - vim.o.cmdheight - height - 4
end

local function corner(items, height)
  local rows = { vim.fn.screenrow() }
  for _, item in ipairs(items) do
    local origin = item.approval.origin
    local buffer = origin and origin.uri and workspace.buffer(origin.uri)
    local window = buffer and vim.fn.bufwinid(buffer) or -1
    if window ~= -1 then
      rows[#rows + 1] = vim.fn.screenpos(window, render.row_of(item.approval.executionId, origin.line) + 1, 1).row
    end
  end
  for _, row in ipairs(rows) do
    if is_low(row, height) then
      return { anchor = "NE", row = 1, col = vim.o.columns }
    end
  end
  return { anchor = "SE", row = vim.o.lines - vim.o.cmdheight - 1, col = vim.o.columns }
end

local function show_preview()
  hide_preview()
  local groups = approvals.groups()
  if #groups == 0 or reader or editing or not config.values.preview then
    return
  end
  local width = math.min(72, vim.o.columns - 4)
  local rows = approvals.rows(groups[1].items, width)
  local height = math.min(#rows, config.values.preview_lines, math.max(1, vim.o.lines - 6))
  local buffer = new_buffer("cellgate-preview")
  fill(buffer, rows)
  shown[buffer] = { rows = rows, items = groups[1].items, drawn = {} }
  vim.api.nvim_buf_attach(buffer, false, {
    on_detach = function()
      shown[buffer] = nil
    end,
  })
  local count = #session.waiting()
  local hidden = #rows - height
  local place = corner(groups[1].items, height)
  preview = vim.api.nvim_open_win(buffer, false, {
    relative = "editor",
    anchor = place.anchor,
    row = place.row,
    col = place.col,
    width = width,
    height = height,
    style = "minimal",
    border = "rounded",
    focusable = false,
    noautocmd = true,
    zindex = 60,
    title = (" cellgate asks%s "):format(count > 1 and (", %d wait"):format(count) or ""),
    footer = (" %s:Cellgate approvals to answer "):format(hidden > 0 and ("%d more lines; "):format(hidden) or ""),
  })
  set_window_options(preview)
end

-- --- the reader

---@class cellgate.Reader
---@field window integer
---@field buffer integer
---@field footer integer window
---@field footer_buffer integer
---@field key string of the group that is shown
---@field items cellgate.Waiting[]
---@field choices Choice[]
---@field more integer approvals of the group that came since
---@field message? string
---@field help? boolean
---@field footer_rows? cellgate.Row[] as they stand there

M.help = {
  "1-9    allow, for what the line beside the number says",
  "d      deny            D   deny, and say why: the code is told",
  "e      change the arguments of the call at the cursor; :w allows that one call with them",
  "x      set the call at the cursor apart, to answer it by itself",
  "r      take in what came since          ] [   the next and the last group",
  "w      why it is asked                  o     go to the line that asks",
  "q      leave; everything goes on waiting",
  "Keys count half a second after a change, and 1-9 when everything was shown. ? goes back.",
}

local function unseen_rows()
  local what = shown[reader.buffer]
  local count = 0
  for i = 1, #what.rows do
    count = count + (what.drawn[i] and 0 or 1)
  end
  return count
end

local function footer_lines()
  if reader.help then
    return vim.deepcopy(M.help)
  end
  local lines = {}
  for i, choice in ipairs(reader.choices) do
    if i <= 9 then
      local each = #reader.items > 1 and not choice.rule and (" (each of these %d)"):format(#reader.items) or ""
      lines[#lines + 1] = ("%d  %s%s"):format(i, choice.label, each)
    end
  end
  lines[#lines + 1] = "d  deny   D  deny, and say why   e  edit   x  set apart   ?  more keys   q  later"
  local unseen = unseen_rows()
  local state = unseen > 0 and ("read on: %d lines were not shown yet"):format(unseen)
    or approvals.too_early(shown[reader.buffer].drawn_at) and "…"
    or "everything was shown: 1-9 allow"
  lines[#lines + 1] = (reader.message and reader.message .. "; " or "") .. state
  if reader.more > 0 then
    lines[#lines] = lines[#lines] .. ("; %d more came: r"):format(reader.more)
  end
  return lines
end

-- Whether the reader's windows are as it made them: a person may close or change any window.
local function is_whole()
  return reader ~= nil
    and vim.api.nvim_win_is_valid(reader.window)
    and vim.api.nvim_win_is_valid(reader.footer)
    and vim.api.nvim_win_get_buf(reader.window) == reader.buffer
    and shown[reader.buffer] ~= nil
end

local function draw_footer()
  if not is_whole() then
    return
  end
  local rows = {}
  local width = vim.api.nvim_win_get_width(reader.footer)
  for _, line in ipairs(footer_lines()) do
    for _, row in ipairs(require("cellgate.text").wrap(line, width, "   ")) do
      rows[#rows + 1] = { text = row }
    end
  end
  rows[#rows].group = reader.message and "DiagnosticWarn" or "Comment"
  if not vim.deep_equal(rows, reader.footer_rows) then
    fill(reader.footer_buffer, rows)
    reader.footer_rows = rows
  end
  if vim.api.nvim_win_get_height(reader.footer) ~= #rows then
    vim.api.nvim_win_set_height(reader.footer, #rows)
  end
  return #rows
end

local function layout()
  local width = math.min(100, vim.o.columns - 4)
  local rows = approvals.rows(reader.items, width)
  local groups = approvals.groups()
  local index = 1
  for i, group in ipairs(groups) do
    if group.key == reader.key then
      index = i
    end
  end
  fill(reader.buffer, rows)
  shown[reader.buffer] = { rows = rows, items = reader.items, drawn = {} }
  local column = math.floor((vim.o.columns - width) / 2) - 1
  vim.api.nvim_win_set_config(reader.footer, { relative = "editor", row = 1, col = column, width = width, height = 1 })
  local footer_height = draw_footer() --[[@as integer]]
  local room = vim.o.lines - vim.o.cmdheight - footer_height - 5
  local height = math.max(1, math.min(#rows, room))
  vim.api.nvim_win_set_config(reader.window, {
    relative = "editor",
    row = 0,
    col = column,
    width = width,
    height = height,
    title = (" cellgate asks: %d of %d "):format(index, #groups),
  })
  vim.api.nvim_win_set_config(reader.footer, {
    relative = "editor",
    row = height + 2,
    col = column,
    width = width,
    height = footer_height,
  })
  vim.api.nvim_win_set_cursor(reader.window, { 1, 0 })
end

local function show_group(group)
  reader.key, reader.items, reader.choices = group.key, group.items, group.choices
  reader.more, reader.message, reader.help = 0, nil, nil
  layout()
end

local function leave()
  if reader then
    local old = reader
    reader = nil
    close(old.footer)
    close(old.window)
    show_preview()
  end
end

--- A key that came too early, or too soon: it answers nothing, and the time begins anew.
local function refuse(problem)
  reader.message = problem .. ": nothing was answered"
  shown[reader.buffer].drawn_at = approvals.now()
  draw_footer()
end

local function move(by)
  local groups = approvals.groups()
  for i, group in ipairs(groups) do
    if group.key == reader.key then
      show_group(groups[(i - 1 + by) % #groups + 1])
      return
    end
  end
  if groups[1] then
    show_group(groups[1])
  end
end

local function item_at_cursor()
  local row = shown[reader.buffer].rows[vim.api.nvim_win_get_cursor(reader.window)[1]]
  return row and row.item or reader.items[1]
end

local function since()
  return shown[reader.buffer].drawn_at
end

-- --- a reason

local function ask_reason(items)
  leave()
  local buffer = new_buffer("cellgate-reason")
  local width = math.min(72, vim.o.columns - 4)
  local window = vim.api.nvim_open_win(buffer, true, {
    relative = "editor",
    row = math.floor(vim.o.lines / 3),
    col = math.floor((vim.o.columns - width) / 2),
    width = width,
    height = 1,
    style = "minimal",
    border = "rounded",
    title = " why not? the code is told; Enter denies, Esc Esc goes back ",
  })
  vim.keymap.set({ "n", "i" }, "<CR>", function()
    local reason = vim.trim(vim.api.nvim_buf_get_lines(buffer, 0, 1, false)[1])
    vim.cmd.stopinsert()
    close(window)
    -- Typing a reason is deliberate enough.
    local problem = approvals.deny(items, reason, -math.huge)
    if problem then
      session.notify(problem, vim.log.levels.WARN)
    end
  end, { buffer = buffer })
  vim.keymap.set("n", "<Esc>", function()
    close(window)
    M.enter()
  end, { buffer = buffer })
  vim.cmd.startinsert()
end

-- --- other arguments

-- Whether the command line that was left a moment ago writes a buffer. An autocommand or a plugin that saves files by
-- itself, or `:wall` from another window, is nobody's answer.
local typed_write = false

local function note_typed_command()
  if vim.fn.getcmdtype() ~= ":" or vim.v.event.abort then
    return
  end
  local good, command = pcall(vim.api.nvim_parse_cmd, vim.fn.getcmdline(), {})
  if good and vim.tbl_contains({ "write", "wq", "xit", "exit", "update" }, command.cmd) then
    typed_write = true
    vim.schedule(function()
      typed_write = false
    end)
  end
end

local function edit(item)
  local arguments = json_text.at(item.body, { "params", "action", "arguments" })
  if not arguments then
    return "this has no arguments to change"
  end
  editing = true
  leave()
  local buffer = vim.api.nvim_create_buf(false, false)
  vim.api.nvim_buf_set_name(buffer, "cellgate://edit/" .. item.tag)
  vim.bo[buffer].buftype = "acwrite"
  vim.bo[buffer].bufhidden = "wipe"
  vim.bo[buffer].swapfile = false
  vim.bo[buffer].undofile = false
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, vim.split(json_text.pretty(arguments), "\n", { plain = true }))
  vim.bo[buffer].filetype = "json"
  vim.bo[buffer].modified = false
  local window = vim.api.nvim_open_win(buffer, true, { split = "below", win = 0 })
  -- Whatever a person's files are shown like: all of this is to be seen.
  vim.wo[window].conceallevel, vim.wo[window].foldenable = 0, false
  vim.api.nvim_create_autocmd("CmdlineLeave", { buffer = buffer, callback = note_typed_command })
  vim.api.nvim_create_autocmd("BufWriteCmd", {
    buffer = buffer,
    callback = function()
      if not typed_write then
        session.notify(
          "only :w, typed here, allows the call with these arguments; nothing was answered",
          vim.log.levels.WARN
        )
        return
      end
      local new = table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), "\n")
      local fits, line, problem = json_text.is_object(new)
      if not fits then
        session.notify(("line %d: %s; nothing was answered"):format(line, problem), vim.log.levels.ERROR)
        return
      end
      approvals.allow_edited(item, new, function(failure)
        if failure then
          session.notify(session.describe(failure), vim.log.levels.ERROR)
        elseif vim.api.nvim_buf_is_valid(buffer) then
          vim.bo[buffer].modified = false
          vim.api.nvim_buf_delete(buffer, { force = true })
        end
      end)
    end,
  })
  vim.api.nvim_create_autocmd("BufWipeout", {
    buffer = buffer,
    callback = vim.schedule_wrap(function()
      editing = false
      show_preview()
    end),
  })
  session.notify(("#%s: :w allows the call with these arguments, :q! answers nothing"):format(item.tag))
end

-- --- keys of the reader

local function go_to_origin(item)
  local origin = item.approval.origin
  if not origin or not origin.uri then
    return "which line asks is not known"
  end
  leave()
  local buffer = workspace.buffer(origin.uri)
  if buffer then
    vim.api.nvim_set_current_buf(buffer)
    local row = render.row_of(item.approval.executionId, origin.line)
    pcall(vim.api.nvim_win_set_cursor, 0, { row + 1, 0 })
  end
end

local function set_keys(buffer)
  local function map(key, action)
    vim.keymap.set("n", key, function()
      if is_whole() then
        action()
      end
    end, { buffer = buffer, nowait = true, silent = true })
  end
  -- What answers, or leads to an answer: dead for a while after a change.
  local function answer(key, action)
    map(key, function()
      local problem = reader.help and "? goes back to the question" or approvals.too_early(since()) or action()
      if problem and reader then
        refuse(problem)
      end
    end)
  end
  for i = 1, 9 do
    answer(tostring(i), function()
      local choice = reader.choices[i]
      return not choice and "there is no such choice" or approvals.allow(reader.items, choice, since())
    end)
  end
  answer("d", function()
    return approvals.deny(reader.items, nil, since())
  end)
  answer("D", function()
    ask_reason(reader.items)
  end)
  answer("e", function()
    return edit(item_at_cursor())
  end)
  map("x", function()
    approvals.set_apart(item_at_cursor().approval.approvalId)
    show_group(approvals.groups()[1])
  end)
  map("r", function()
    M.enter()
  end)
  map("w", function()
    approvals.explain(item_at_cursor())
  end)
  map("o", function()
    local problem = go_to_origin(item_at_cursor())
    if problem then
      refuse(problem)
    end
  end)
  map("]", function()
    move(1)
  end)
  map("[", function()
    move(-1)
  end)
  map("?", function()
    reader.help = not reader.help
    layout()
  end)
  map("q", leave)
  map("<Esc>", leave)
end

--- Enters the reader: the one place whose keys answer.
function M.enter()
  local groups = approvals.groups()
  if #groups == 0 then
    leave()
    session.notify("nothing waits for an answer")
    return
  end
  if vim.fn.mode():find("^[it]") then
    vim.cmd.stopinsert()
  end
  if reader and not is_whole() then
    leave()
  end
  hide_preview()
  if not reader then
    local buffer, footer_buffer = new_buffer("cellgate-approval"), new_buffer("cellgate-choices")
    local place = { relative = "editor", row = 0, col = 0, width = 10, height = 1, style = "minimal", zindex = 70 }
    local footer = vim.api.nvim_open_win(
      footer_buffer,
      false,
      vim.tbl_extend("force", place, { border = "rounded", focusable = false, noautocmd = true })
    )
    local window =
      vim.api.nvim_open_win(buffer, true, vim.tbl_extend("force", place, { border = "rounded", title = " " }))
    set_window_options(window)
    set_window_options(footer)
    vim.wo[window].winfixbuf = true
    reader = { window = window, buffer = buffer, footer = footer, footer_buffer = footer_buffer, more = 0 }
    set_keys(buffer)
    vim.api.nvim_create_autocmd("WinLeave", {
      buffer = buffer,
      callback = vim.schedule_wrap(function()
        if reader and reader.window == window and vim.api.nvim_get_current_win() ~= window then
          leave()
        end
      end),
    })
    vim.api.nvim_create_autocmd("BufWipeout", {
      buffer = buffer,
      callback = function()
        shown[buffer] = nil
        vim.schedule(function()
          if reader and reader.buffer == buffer then
            leave()
          end
        end)
      end,
    })
  end
  local same = vim.iter(groups):find(function(group)
    return group.key == reader.key
  end)
  show_group(same or groups[1])
end

--- What the statusline shows, and `:Cellgate approvals` enters, has changed.
local function changed()
  if reader and not is_whole() then
    leave()
  end
  if reader then
    local still = {}
    for _, item in ipairs(reader.items) do
      if item.session.waiting[item.approval.approvalId] then
        still[#still + 1] = item
      end
    end
    local groups = approvals.groups()
    if #groups == 0 then
      leave()
    elseif #still < #reader.items then
      -- What was shown is answered, by whomever: on to what waits.
      local same = vim.iter(groups):find(function(group)
        return group.key == reader.key
      end)
      show_group(same or groups[1])
    else
      for _, group in ipairs(groups) do
        if group.key == reader.key then
          reader.more = #group.items - #reader.items
        end
      end
      draw_footer()
    end
  else
    show_preview()
  end
end

-- --- at the lines that ask

local function mark_lines()
  for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_is_loaded(buffer) then
      vim.api.nvim_buf_clear_namespace(buffer, namespace, 0, -1)
    end
  end
  local at_row = {}
  for _, item in ipairs(session.waiting()) do
    local origin = item.approval.origin
    local buffer = origin and origin.uri and workspace.buffer(origin.uri)
    if buffer then
      local row = render.row_of(item.approval.executionId, origin.line)
      if row < vim.api.nvim_buf_line_count(buffer) then
        local key = buffer .. ":" .. row
        at_row[key] = at_row[key] or { buffer = buffer, row = row, items = {} }
        table.insert(at_row[key].items, item)
      end
    end
  end
  for _, place in pairs(at_row) do
    local first = place.items[1]
    local words = #place.items == 1 and vim.fn.strcharpart(first.approval.display[1], 0, 60)
      or ("%d calls"):format(#place.items)
    vim.api.nvim_buf_set_extmark(place.buffer, namespace, place.row, 0, {
      sign_text = "?",
      sign_hl_group = "DiagnosticWarn",
      virt_text = { { ("  asks #%s: %s"):format(first.tag, words), "DiagnosticWarn" } },
      virt_text_pos = "eol",
    })
  end
end

function M.setup()
  local scheduled = false
  events.on("CellgateApproval", function()
    -- Many may come at once.
    if not scheduled then
      scheduled = true
      vim.schedule(function()
        scheduled = false
        changed()
        mark_lines()
      end)
    end
  end)
  local group = vim.api.nvim_create_augroup("cellgate.approvals", {})
  vim.api.nvim_create_autocmd({ "TabEnter", "VimResized" }, {
    group = group,
    callback = function()
      vim.schedule(function()
        if is_whole() and vim.api.nvim_win_get_tabpage(reader.window) == vim.api.nvim_get_current_tabpage() then
          layout()
        else
          leave()
          show_preview()
        end
      end)
    end,
  })
  vim.api.nvim_create_autocmd({ "WinScrolled", "CursorMoved" }, {
    group = group,
    callback = vim.schedule_wrap(function()
      draw_footer()
    end),
  })
  local timer = assert(vim.uv.new_timer())
  -- The footer says when keys begin to count.
  timer:start(
    250,
    250,
    vim.schedule_wrap(function()
      draw_footer()
    end)
  )
end

return M
