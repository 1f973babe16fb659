-- `elicitation_window` is the window in which a question for or of a tool server is answered, which the user opens on
-- purpose. A form is a buffer that is edited, and sent by a `:w` that is typed there; a page, or a question without
-- fields, has keys. Closed without an answer, the question goes on waiting.
local browser = require("cellgate.browser")
local elicitations = require("cellgate.elicitations")
local forms = require("cellgate.elicitation_form")
local notify = require("cellgate.notify")
local page = require("cellgate.approval_page")
local rpc = require("cellgate.rpc")
local scratch = require("cellgate.scratch")
local text = require("cellgate.text")
local typed_write = require("cellgate.typed_write")

local M = {}

---@class cellgate.Answering
---@field item cellgate.PendingElicitation
---@field buffer integer
---@field form? cellgate.Form absent of a page, and of a question without fields
---@field changed fun() called when the window was opened, and when it has gone
---@field sent? boolean an answer is on its way
---@field refused? string[] the lines whose `:w` was refused a moment ago: some commands close the window all the same

---@type table<integer, cellgate.Answering> by buffer
local open = {}

local problems = vim.api.nvim_create_namespace("cellgate.elicitations")

--- Whether a question is being answered here, so that no other one comes before it.
function M.is_open()
  return next(open) ~= nil
end

M.form_help = {
  ":w   sends what is written here      <CR>  marks the box at the cursor",
  "gD   declines: a no to the server    gC    cancels: neither yes nor no",
  ":q!  leaves; it goes on waiting",
}
M.start_help = {
  ":w   sends what is written here      <CR>  asks for a secret, or marks the box",
  "gD   declines: it does not start     gC    cancels: it does not start now",
  ":q!  leaves; it goes on waiting",
}
M.page_help = {
  "o    opens the page in the browser, and tells the server that you agreed",
  "a    tells the server so too, where you open it yourself: y copies the URL",
  "d    declines: a no to the server    C     cancels: neither yes nor no",
  "q    leaves; it goes on waiting",
}
M.yes_help = {
  "a    says yes to the server          d     declines: a no to the server",
  "C    cancels: neither yes nor no     q     leaves; it goes on waiting",
}

local function lines_in(each)
  return vim.api.nvim_buf_get_lines(each.buffer, 0, -1, false)
end

local function is_there(each)
  return open[each.buffer] == each and vim.api.nvim_buf_is_valid(each.buffer)
end

---@param each cellgate.Answering
local function close(each)
  if is_there(each) then
    vim.bo[each.buffer].modified = false
    -- While the command-line window is open, no window can be closed.
    pcall(vim.api.nvim_buf_delete, each.buffer, { force = true })
  end
end

local function warn(problem)
  notify.show(problem .. "; nothing was answered", vim.log.levels.WARN)
end

---@param each cellgate.Answering
---@param found cellgate.FormProblem[]
local function show_problems(each, found)
  local last = vim.api.nvim_buf_line_count(each.buffer)
  vim.diagnostic.set(
    problems,
    each.buffer,
    vim.tbl_map(function(problem)
      return {
        lnum = math.min(problem.line, last) - 1,
        col = 0,
        message = text.visible(problem.message),
        severity = vim.diagnostic.severity.ERROR,
        source = "cellgate",
      }
    end, found),
    -- Whatever the user's settings are: without a mark the reason would not be seen.
    { virtual_text = true, signs = false }
  )
  if found[1] then
    local line = math.min(found[1].line, last)
    for _, window in ipairs(vim.fn.win_findbuf(each.buffer)) do
      vim.api.nvim_win_set_cursor(window, { line, vim.api.nvim_win_get_cursor(window)[2] })
    end
  end
end

-- --- answering

-- What the sidecar refuses can be corrected, also where the window has gone meanwhile.
---@param each cellgate.Answering
---@param failure cellgate.RpcError
---@param lines? string[] that were sent
local function failed(each, failure, lines)
  each.sent = nil
  notify.show(rpc.describe(failure), vim.log.levels.ERROR)
  if lines and not is_there(each) and elicitations.waits(each.item) then
    M.open(each.item, each.changed, { lines = lines, form = each.form })
    each = open[vim.api.nvim_get_current_buf()] or each
  end
  if lines and is_there(each) then
    local line = forms.line_named(each.form, lines, failure.message)
    show_problems(each, { { line = line, message = failure.message } })
  end
end

---@param each cellgate.Answering
---@param action ElicitationAction
---@param values? string
---@param lines? string[] from which the values were read
local function respond(each, action, values, lines)
  if each.sent then
    warn("an answer is on its way")
    return
  end
  each.sent = true
  elicitations.respond(each.item, action, values, function(failure)
    if failure then
      failed(each, failure, lines)
    else
      close(each)
    end
  end)
end

---@param each cellgate.Answering
---@param problem string
local function refuse(each, problem)
  each.refused = lines_in(each)
  vim.schedule(function()
    each.refused = nil
  end)
  warn(problem)
end

-- Sends the form.
---@param each cellgate.Answering
---@param problem? string why the buffer was written without an answer of the user
local function send(each, problem)
  problem = problem or elicitations.not_yet(each.buffer)
  if problem then
    refuse(each, problem)
    return
  end
  local lines = lines_in(each)
  local values, found = forms.read(each.form, lines)
  show_problems(each, found)
  if values then
    respond(each, "accept", values, lines)
  else
    refuse(each, found[1].message)
  end
end

---@param each cellgate.Answering
---@param action "decline"|"cancel"
local function give_no_values(each, action)
  local problem = elicitations.too_early(each.buffer)
  if problem then
    warn(problem)
  else
    respond(each, action)
  end
end

-- Accepts a question without fields, or a page.
---@param each cellgate.Answering
---@param open_first boolean
local function accept(each, open_first)
  local asked = each.item.elicitation
  local problem = elicitations.not_yet(each.buffer) or (open_first and browser.open_page(asked.url) or nil)
  if problem then
    warn(problem)
  else
    respond(each, "accept", asked.mode == "form" and "{}" or nil)
  end
end

-- --- the window

---@param each cellgate.Answering
---@param field cellgate.FormField
---@param line integer
local function ask_for_secret(each, field, line)
  local typed = vim.fn.inputsecret(text.visible(field.field.title) .. ": ")
  if typed ~= "" and is_there(each) then
    vim.api.nvim_buf_set_lines(each.buffer, line - 1, line, false, { forms.keep_secret(each.form, field, typed) })
  end
end

---@param each cellgate.Answering
local function toggle(each)
  local line = vim.api.nvim_win_get_cursor(0)[1]
  local secret = forms.secret_at(each.form, lines_in(each)[line])
  if secret then
    ask_for_secret(each, secret, line)
    return
  end
  for at, changed in pairs(forms.toggle(lines_in(each), line)) do
    vim.api.nvim_buf_set_lines(each.buffer, at - 1, at, false, { changed })
  end
end

---@param each cellgate.Answering
local function set_keys(each)
  local function map(key, act)
    vim.keymap.set("n", key, function()
      act(each)
    end, { buffer = each.buffer, nowait = true, silent = true })
  end
  local function give(action)
    return function()
      give_no_values(each, action)
    end
  end
  if each.form then
    map("<CR>", toggle)
    map("gD", give("decline"))
    map("gC", give("cancel"))
    return
  end
  map("d", give("decline"))
  map("C", give("cancel"))
  map("q", close)
  map("a", function()
    accept(each, false)
  end)
  if each.item.elicitation.mode == "url" then
    map("o", function()
      accept(each, true)
    end)
    map("y", function()
      notify.show(("the URL is in register %s"):format(browser.copy(each.item.elicitation.url)))
    end)
  end
end

---@param each cellgate.Answering
---@param width integer
---@return cellgate.Row[]
local function rows_of(each, width)
  local rows = elicitations.rows(each.item, width)
  local asked = each.item.elicitation
  local of_form = asked.tool and M.form_help or M.start_help
  local help = each.form and of_form or asked.mode == "url" and M.page_help or M.yes_help
  for _, line in ipairs(help) do
    for _, row in ipairs(text.wrap(line, width - 2, "↳ ")) do
      rows[#rows + 1] = { text = "# " .. row, group = "Comment" }
    end
  end
  return each.form and forms.rows(each.form, rows, width) or rows
end

---@param each cellgate.Answering
---@param window integer
local function set_options(each, window)
  page.set_window_options(window)
  vim.wo[window].showbreak = "↳ "
  local options = vim.bo[each.buffer]
  options.textwidth, options.wrapmargin, options.expandtab, options.modeline = 0, 0, true, false
  options.modifiable = each.form ~= nil
end

-- All of it has to be shown before it can be accepted.
---@param window integer
---@param rows integer
local function enlarge(window, rows)
  local most = math.floor(vim.o.lines * 2 / 3)
  if rows > vim.api.nvim_win_get_height(window) then
    vim.api.nvim_win_set_height(window, math.min(rows, most))
  end
end

---@param each cellgate.Answering
---@param window integer
---@param written? string[]
local function fill(each, window, written)
  local undo_levels = vim.bo[each.buffer].undolevels
  -- An undo would take the form away.
  vim.bo[each.buffer].undolevels = -1
  page.forget_with(each.buffer)
  local rows = rows_of(each, vim.api.nvim_win_get_width(window))
  page.fill(each.buffer, rows, {}, "action")
  enlarge(window, #rows)
  set_options(each, window)
  vim.bo[each.buffer].undolevels = undo_levels
  if written then
    vim.api.nvim_buf_set_lines(each.buffer, 0, -1, false, written)
  end
  -- So that commands which write only what was changed do, where there is something to write again.
  vim.bo[each.buffer].modified = written ~= nil
  -- To the first field, where the question stays in view above it.
  local first = vim.fn.search([[\v^[[:alnum:]_.-]+:]], "cnW")
  local is_near = first > 0 and first <= vim.api.nvim_win_get_height(window)
  vim.api.nvim_win_set_cursor(window, { is_near and first or 1, 0 })
end

---@param each cellgate.Answering
local function listen(each)
  if each.form then
    typed_write.on(each.buffer, function(problem)
      send(each, problem)
    end)
  end
  vim.api.nvim_create_autocmd("BufWipeout", {
    buffer = each.buffer,
    callback = function()
      open[each.buffer] = nil
      local refused = each.refused
      vim.schedule(function()
        if refused and elicitations.waits(each.item) then
          M.open(each.item, each.changed, { lines = refused, form = each.form })
        else
          each.changed()
        end
      end)
    end,
  })
end

--- Opens a question, or goes to it where it is open.
---@param item cellgate.PendingElicitation
---@param changed fun() called when it was opened, and when it has gone
---@param written? { lines: string[], form: cellgate.Form } what the user wrote already
---@return string? problem
function M.open(item, changed, written)
  local asked = item.elicitation
  local form = written and written.form or asked.mode == "form" and #asked.fields > 0 and forms.new(asked.fields) or nil
  local name = "answer/" .. item.tag
  local known = scratch.find(name)
  local buffer, problem = scratch.open({
    name = name,
    buftype = form and "acwrite" or "nofile",
    filetype = "cellgate-form",
    root = item.session.root,
    session = asked.sessionId,
  })
  if not buffer then
    return problem
  end
  if known and open[known] then
    return
  end
  local each = { item = item, buffer = buffer, form = form, changed = changed }
  open[buffer] = each
  fill(each, vim.api.nvim_get_current_win(), written and written.lines)
  set_keys(each)
  listen(each)
  changed()
end

--- After questions came or went: one that does not wait any more is closed.
function M.elicitations_changed()
  for _, each in ipairs(vim.tbl_values(open)) do
    if not elicitations.waits(each.item) then
      if not each.sent then
        notify.show(
          ("#%s of %s does not wait any more: it was answered elsewhere, or its call has ended"):format(
            each.item.tag,
            each.item.elicitation.server
          ),
          vim.log.levels.WARN
        )
      end
      close(each)
    end
  end
end

return M
