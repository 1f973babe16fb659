-- `approval_reader` is the one window whose keys answer, which the user enters on purpose. The upper window shows what
-- is asked, the footer below it the choices and the keys. Where the choices would take too much of the screen, they are
-- the end of the upper window's text.
local approvals = require("cellgate.approvals")
local edit = require("cellgate.approval_edit")
local notify = require("cellgate.notify")
local page = require("cellgate.approval_page")
local places = require("cellgate.places")
local reader_text = require("cellgate.approval_reader_text")
local reason = require("cellgate.approval_reason")
local workspace = require("cellgate.workspace")

local M = {}

--- Called after it was left; other windows are not known here.
M.left = function() end

---@class cellgate.Reader
---@field window integer
---@field buffer integer
---@field footer integer window
---@field footer_buffer integer
---@field timer uv.uv_timer_t
---@field key string of the group that is shown
---@field items cellgate.PendingApproval[]
---@field choices Choice[]
---@field more integer approvals of the group that came since
---@field message? string
---@field help? boolean
---@field row_count integer of the text
---@field choices_below boolean the choices are in the footer
---@field footer_rows? cellgate.Row[] as the footer shows them

---@type cellgate.Reader?
local reader

function M.is_open()
  return reader ~= nil
end

-- Whether the reader's windows are as it made them: a user may close or change any window.
local function is_whole()
  return reader ~= nil
    and vim.api.nvim_win_is_valid(reader.window)
    and vim.api.nvim_win_is_valid(reader.footer)
    and vim.api.nvim_win_get_buf(reader.window) == reader.buffer
    and vim.api.nvim_win_get_buf(reader.footer) == reader.footer_buffer
end

local function since()
  return page.drawn_at(reader.buffer)
end

-- --- its text

local function width_now()
  return math.max(1, math.min(100, vim.o.columns - 4))
end

-- Rows for both windows, without their borders and the statusline.
local function room_now()
  return vim.o.lines - vim.o.cmdheight - 5
end

-- What the keys would do now, in words.
local function state()
  if reader.help then
    return "? goes back to the question"
  elseif approvals.not_shown(reader.items, "choices") then
    return "read on: the end was not shown yet"
  end
  return approvals.too_early(since()) and "…" or "shown to the end: 1-9 allow"
end

local function choice_rows()
  return reader_text.choice_rows(reader.items, reader.choices, width_now())
end

local function footer_rows()
  local rows = reader.choices_below and choice_rows() or {}
  local can_edit = vim.iter(reader.items):any(edit.can_edit)
  return vim.list_extend(rows, reader_text.key_rows(state(), reader.more, can_edit, reader.message, width_now()))
end

-- Puts both windows where they have room, the footer below the text.
local function place_windows()
  local width, room = width_now(), room_now()
  local footer_height = math.max(1, math.min(#reader.footer_rows, room - 1))
  local height = math.max(1, math.min(reader.row_count, room - footer_height))
  local groups = approvals.groups()
  local index = 1
  for i, group in ipairs(groups) do
    if group.key == reader.key then
      index = i
    end
  end
  local common = { relative = "editor", col = math.floor((vim.o.columns - width) / 2) - 1, width = width }
  vim.api.nvim_win_set_config(
    reader.window,
    vim.tbl_extend("force", common, {
      row = 0,
      height = height,
      title = reader.help and " keys " or (" cellgate asks: %d of %d "):format(index, #groups),
    })
  )
  vim.api.nvim_win_set_config(
    reader.footer,
    vim.tbl_extend("force", common, { row = height + 2, height = footer_height })
  )
end

local function draw_footer()
  local rows = footer_rows()
  if not vim.deep_equal(rows, reader.footer_rows) then
    local is_higher = not reader.footer_rows or #rows ~= #reader.footer_rows
    reader.footer_rows = rows
    page.fill(reader.footer_buffer, rows, {}, "choices")
    if is_higher then
      place_windows()
    end
  end
end

local function layout()
  local rows = reader.help and reader_text.help_rows(width_now()) or approvals.rows(reader.items, width_now())
  local choices = choice_rows()
  local room, others = room_now(), 2
  approvals.forget_shown(reader.items)
  reader.choices_below = not reader.help
    and (#rows + #choices + others <= room or #choices + others <= math.floor(room / 2))
  if not reader.help and not reader.choices_below then
    vim.list_extend(rows, choices)
  end
  page.fill(reader.buffer, rows, reader.help and {} or reader.items, "choices")
  reader.row_count, reader.footer_rows = #rows, nil
  draw_footer()
  vim.api.nvim_win_set_cursor(reader.window, { 1, 0 })
end

--- Writes in the footer what the keys would do now.
function M.refresh()
  if is_whole() then
    draw_footer()
  end
end

--- After something that may have moved or resized the windows.
function M.windows_changed()
  if is_whole() then
    place_windows()
    draw_footer()
  end
end

--- After the size of the screen has changed.
function M.screen_changed()
  if is_whole() then
    layout()
  end
end

-- --- coming and going

local function show_group(group)
  reader.key, reader.items, reader.choices = group.key, group.items, group.choices
  reader.more, reader.message, reader.help = 0, nil, nil
  layout()
end

function M.leave()
  if reader then
    local old = reader
    reader = nil
    old.timer:stop()
    old.timer:close()
    page.close(old.footer)
    page.close(old.window)
    M.left()
  end
end

local function group_of_key(groups, key)
  return vim.iter(groups):find(function(group)
    return group.key == key
  end)
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

--- After something came or went.
function M.approvals_changed()
  if not is_whole() then
    M.leave()
    return
  end
  local still = vim.iter(reader.items):all(function(item)
    return item.session.waiting[item.approval.approvalId] ~= nil
  end)
  local groups = approvals.groups()
  local same = group_of_key(groups, reader.key)
  if #groups == 0 then
    M.leave()
  elseif not still then
    -- What was shown was answered, here or elsewhere: on to what waits.
    show_group(same or groups[1])
  else
    reader.more = same and #same.items - #reader.items or reader.more
    draw_footer()
  end
end

-- --- keys

-- A key that came too early answers nothing, and restarts the quiet time.
local function refuse(problem)
  reader.message = problem .. ": nothing was answered"
  page.restart_quiet_time(reader.buffer)
  draw_footer()
end

local function item_at_cursor()
  local row = page.row(reader.buffer, vim.api.nvim_win_get_cursor(reader.window)[1])
  return row and row.item or reader.items[1]
end

local function go_to_origin(item)
  local origin = item.approval.origin
  if not origin or not origin.uri then
    return "which line asks is not known"
  end
  local buffer = workspace.buffer(origin.uri)
  if not buffer then
    return "the file that asks is not open here"
  end
  M.leave()
  vim.api.nvim_set_current_buf(buffer)
  pcall(vim.api.nvim_win_set_cursor, 0, { places.row_of(item.approval.executionId, origin.line) + 1, 0 })
end

local function ungroup(item)
  local id = item.approval.approvalId
  approvals.ungroup(id)
  for _, group in ipairs(approvals.groups()) do
    if group.items[1].approval.approvalId == id then
      show_group(group)
    end
  end
end

local function ask_reason()
  local items, key = reader.items, reader.key
  M.leave()
  reason.ask(items, function()
    M.enter(key)
  end)
end

-- Unchanged, the arguments are the call that was asked for, so it has to have been shown like one that is allowed.
local function change_arguments(item)
  local problem = not edit.can_edit(item) and "this cannot be changed" or approvals.not_shown({ item }, "action")
  if problem then
    return problem
  end
  local key = reader.key
  -- A window below can be opened from an ordinary one only.
  M.leave()
  problem = edit.open(item, M.left)
  if problem then
    M.enter(key)
  end
  return problem
end

local function allow(number)
  local choice = reader.choices[number]
  if not choice then
    return "there is no such choice"
  end
  return approvals.allow(reader.items, choice, since())
end

local function toggle_help()
  reader.help = not reader.help
  reader.message = nil
  layout()
end

-- Keys that answer, or open a window that does: dead for a while after a change.
local answer_keys = {
  d = function()
    return approvals.deny(reader.items, nil, since())
  end,
  D = ask_reason,
  e = function()
    return change_arguments(item_at_cursor())
  end,
}
for number = 1, 9 do
  answer_keys[tostring(number)] = function()
    return allow(number)
  end
end

-- Keys about the question, which the help replaces.
local question_keys = {
  x = function()
    ungroup(item_at_cursor())
  end,
  w = function()
    approvals.explain(item_at_cursor())
  end,
  o = function()
    return go_to_origin(item_at_cursor())
  end,
}

local window_keys = {
  r = function()
    M.enter()
  end,
  ["]"] = function()
    move(1)
  end,
  ["["] = function()
    move(-1)
  end,
  ["?"] = toggle_help,
  q = M.leave,
  ["<Esc>"] = M.leave,
}

local function set_keys(buffer)
  local function map(key, action)
    vim.keymap.set("n", key, function()
      if is_whole() then
        action()
      end
    end, { buffer = buffer, nowait = true, silent = true })
  end
  local function map_question(key, action)
    map(key, function()
      local problem = reader.help and "? goes back to the question" or action()
      if problem and reader then
        refuse(problem)
      end
    end)
  end
  for key, action in pairs(answer_keys) do
    map_question(key, function()
      return approvals.too_early(since()) or action()
    end)
  end
  for key, action in pairs(question_keys) do
    map_question(key, action)
  end
  for key, action in pairs(window_keys) do
    map(key, action)
  end
end

-- --- entering

local function open_windows(buffer, footer_buffer)
  local how = {
    relative = "editor",
    row = 0,
    col = 0,
    width = 10,
    height = 1,
    style = "minimal",
    zindex = 70,
    border = "rounded",
  }
  local footer =
    vim.api.nvim_open_win(footer_buffer, false, vim.tbl_extend("force", how, { focusable = false, noautocmd = true }))
  local good, window = pcall(vim.api.nvim_open_win, buffer, true, vim.tbl_extend("force", how, { title = " " }))
  if not good then
    page.close(footer)
    vim.api.nvim_buf_delete(buffer, { force = true })
    error(window, 0)
  end
  page.set_window_options(window)
  page.set_window_options(footer)
  vim.wo[window].winfixbuf = true
  return window, footer
end

local function open()
  local buffer, footer_buffer = page.new("cellgate-approval"), page.new("cellgate-choices")
  local window, footer = open_windows(buffer, footer_buffer)
  local timer = assert(vim.uv.new_timer())
  reader = {
    window = window,
    buffer = buffer,
    footer = footer,
    footer_buffer = footer_buffer,
    timer = timer,
    more = 0,
  }
  set_keys(buffer)
  -- The footer shows when keys begin to count.
  timer:start(250, 250, vim.schedule_wrap(M.refresh))
  vim.api.nvim_create_autocmd("WinLeave", {
    buffer = buffer,
    callback = vim.schedule_wrap(function()
      local is_elsewhere = vim.api.nvim_get_current_win() ~= window and vim.fn.getcmdwintype() == ""
      if reader and reader.window == window and is_elsewhere then
        M.leave()
      end
    end),
  })
  vim.api.nvim_create_autocmd("BufWipeout", {
    buffer = buffer,
    callback = vim.schedule_wrap(function()
      if reader and reader.buffer == buffer then
        M.leave()
      end
    end),
  })
end

--- Enters it, at the group that was shown there, else at the first.
---@param key? string of the group that was shown before it was left
function M.enter(key)
  if vim.fn.getcmdwintype() ~= "" then
    notify.show("leave the command-line window first, by :q", vim.log.levels.WARN)
    return
  end
  local groups = approvals.groups()
  if #groups == 0 then
    M.leave()
    notify.show("nothing waits for an answer")
    return
  end
  if vim.fn.mode():find("^[it]") then
    vim.cmd.stopinsert()
  end
  if reader and not is_whole() then
    M.leave()
  end
  if not reader then
    open()
  end
  local wanted = key or reader.key
  local group = group_of_key(groups, wanted)
  show_group(group or groups[1])
  if wanted and not group then
    reader.message = "what was shown waits no more: this is another question"
    draw_footer()
  end
end

return M
