-- The reader: the one window whose keys answer, which a person enters on purpose. Above stands what is asked, below it
-- the choices and the keys; where these would take too much of the screen, the choices follow the text instead.
local approvals = require("cellgate.approvals")
local edit = require("cellgate.approval_edit")
local notice = require("cellgate.notice")
local page = require("cellgate.approval_page")
local reason = require("cellgate.approval_reason")
local render = require("cellgate.render")
local text = require("cellgate.text")
local workspace = require("cellgate.workspace")

local M = {}

--- What happens after it was left; the windows beside it are not known here.
M.left = function() end

M.help = {
  "1-9    allow, for what the line beside the number says",
  "d      deny            D   deny, and say why: the code is told",
  "e      change the arguments of the call at the cursor; :w allows that one call with them",
  "x      set the call at the cursor apart, to answer it by itself",
  "r      take in what came since          ] [   the next and the last group",
  "w      why it is asked                  o     go to the line that asks",
  "q      leave; everything goes on waiting",
  "Keys count half a second after a change, and 1-9 and e when everything was shown. ? goes back.",
}

local keys_line = "d deny   D deny, and say why   e edit   x set apart   ? more keys   q later"
local short_keys_line = "d deny  D say why  ? keys  q later"

---@class cellgate.Reader
---@field window integer
---@field buffer integer
---@field footer integer window
---@field footer_buffer integer
---@field timer uv.uv_timer_t
---@field key string of the group that is shown
---@field items cellgate.Waiting[]
---@field choices Choice[]
---@field more integer approvals of the group that came since
---@field message? string
---@field help? boolean
---@field row_count integer of the text
---@field choices_below boolean the choices stand in the footer
---@field footer_rows? cellgate.Row[] as they stand there

---@type cellgate.Reader?
local reader

function M.is_open()
  return reader ~= nil
end

-- Whether the reader's windows are as it made them: a person may close or change any window.
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

-- --- what stands in it

local function width_now()
  return math.max(1, math.min(100, vim.o.columns - 4))
end

-- Rows for both windows, without their borders and the statusline.
local function room_now()
  return vim.o.lines - vim.o.cmdheight - 5
end

local function add_wrapped(rows, line, row)
  for _, piece in ipairs(text.wrap(text.visible(line), width_now(), "   ")) do
    rows[#rows + 1] = vim.tbl_extend("force", { text = piece }, row or {})
  end
end

-- The numbers of the choices that have keys.
local function numbers()
  local all = {}
  for i = 1, math.min(9, #reader.choices) do
    all[i] = i
  end
  return all
end

local function choice_rows()
  local rows = {}
  for _, i in ipairs(numbers()) do
    local choice = reader.choices[i]
    local each = #reader.items > 1 and not choice.rule and (" (each of these %d)"):format(#reader.items) or ""
    add_wrapped(rows, ("%d  %s%s"):format(i, choice.label, each), { choice = i })
  end
  return rows
end

local function help_rows()
  local rows = {}
  for _, line in ipairs(M.help) do
    add_wrapped(rows, line)
  end
  return rows
end

-- What the keys would do now, in words.
local function state()
  if reader.help then
    return "? goes back to the question"
  elseif room_now() < 2 then
    return "the screen is too small"
  elseif approvals.not_displayed(reader.items, numbers()) then
    return ("read on: %d lines were not shown yet"):format(
      page.unseen(reader.buffer) + page.unseen(reader.footer_buffer)
    )
  end
  return approvals.not_yet(reader.items, numbers(), since()) and "…" or "everything was shown: 1-9 allow"
end

local function footer_rows()
  local rows = reader.choices_below and choice_rows() or {}
  add_wrapped(rows, vim.fn.strdisplaywidth(keys_line) <= width_now() and keys_line or short_keys_line)
  local more = reader.more > 0 and ("; %d more came: r"):format(reader.more) or ""
  add_wrapped(rows, state() .. more, { group = "Comment" })
  if reader.message then
    add_wrapped(rows, reader.message, { group = "DiagnosticWarn" })
  end
  return rows
end

-- Puts both windows where they have room, the footer below the text.
local function place()
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
  -- On a screen without room for both one is above the other, and nothing counts as shown.
  if room >= 2 then
    page.set_place(reader.buffer, reader.window)
    page.set_place(reader.footer_buffer, reader.footer)
  end
end

local function draw_footer()
  local rows = footer_rows()
  if not vim.deep_equal(rows, reader.footer_rows) then
    local is_higher = not reader.footer_rows or #rows ~= #reader.footer_rows
    reader.footer_rows = rows
    page.fill(reader.footer_buffer, rows, reader.items, false)
    if is_higher then
      place()
    elseif room_now() >= 2 then
      page.set_place(reader.footer_buffer, reader.footer)
    end
  end
end

local function layout()
  local rows, choices = reader.help and help_rows() or approvals.rows(reader.items, width_now()), choice_rows()
  local room, others = room_now(), 2
  approvals.forget_choices(reader.items)
  reader.choices_below = not reader.help
    and (#rows + #choices + others <= room or #choices + others <= math.floor(room / 2))
  if not reader.help and not reader.choices_below then
    vim.list_extend(rows, choices)
  end
  page.fill(reader.buffer, rows, reader.help and {} or reader.items, not reader.help)
  reader.row_count, reader.footer_rows = #rows, nil
  draw_footer()
  vim.api.nvim_win_set_cursor(reader.window, { 1, 0 })
end

--- After something that may have changed what was drawn, or where the windows are.
function M.refresh()
  if not is_whole() then
    return
  elseif room_now() >= 2 and not page.is_in_place(reader.buffer, reader.window) then
    layout()
  else
    draw_footer()
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
    -- What was shown is answered, by whomever: on to what waits.
    show_group(same or groups[1])
  else
    reader.more = same and #same.items - #reader.items or reader.more
    draw_footer()
  end
end

-- --- keys

-- A key that came too early, or too soon: it answers nothing, and the time begins anew.
local function refuse(problem)
  reader.message = problem .. ": nothing was answered"
  page.begin_anew(reader.buffer)
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
  pcall(vim.api.nvim_win_set_cursor, 0, { render.row_of(item.approval.executionId, origin.line) + 1, 0 })
end

local function set_apart(item)
  local id = item.approval.approvalId
  approvals.set_apart(id)
  for _, group in ipairs(approvals.groups()) do
    if group.items[1].approval.approvalId == id then
      show_group(group)
    end
  end
end

local function ask_reason()
  local items = reader.items
  M.leave()
  reason.ask(items, M.enter)
end

-- Not without all of it having been shown: unchanged, the arguments are the call that was asked for.
local function change_arguments(item)
  local problem = approvals.not_displayed({ item }, {})
  if problem then
    return problem
  end
  -- A window below is opened from an ordinary one.
  M.leave()
  problem = edit.open(item, M.left)
  if problem then
    M.enter()
  end
  return problem
end

local function set_keys(buffer)
  local function map(key, action)
    vim.keymap.set("n", key, function()
      if is_whole() then
        action()
      end
    end, { buffer = buffer, nowait = true, silent = true })
  end
  -- What is about the question, which the help takes the place of.
  local function ask(key, action)
    map(key, function()
      local problem = reader.help and "? goes back to the question" or action()
      if problem and reader then
        refuse(problem)
      end
    end)
  end
  -- What answers, or leads to an answer: dead for a while after a change.
  local function answer(key, action)
    ask(key, function()
      return approvals.too_early(since()) or action()
    end)
  end
  for i = 1, 9 do
    answer(tostring(i), function()
      local choice = reader.choices[i]
      return not choice and "there is no such choice" or approvals.allow(reader.items, choice, numbers(), since())
    end)
  end
  answer("d", function()
    return approvals.deny(reader.items, nil, since())
  end)
  answer("D", ask_reason)
  answer("e", function()
    return change_arguments(item_at_cursor())
  end)
  ask("x", function()
    set_apart(item_at_cursor())
  end)
  ask("w", function()
    approvals.explain(item_at_cursor())
  end)
  ask("o", function()
    return go_to_origin(item_at_cursor())
  end)
  map("r", function()
    M.enter()
  end)
  map("]", function()
    move(1)
  end)
  map("[", function()
    move(-1)
  end)
  map("?", function()
    reader.help = not reader.help
    reader.message = nil
    layout()
  end)
  map("q", M.leave)
  map("<Esc>", M.leave)
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
  -- The footer says when keys begin to count.
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
function M.enter()
  if vim.fn.getcmdwintype() ~= "" then
    notice.tell("leave the command-line window first, by :q", vim.log.levels.WARN)
    return
  end
  local groups = approvals.groups()
  if #groups == 0 then
    M.leave()
    notice.tell("nothing waits for an answer")
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
  show_group(group_of_key(groups, reader.key) or groups[1])
end

return M
