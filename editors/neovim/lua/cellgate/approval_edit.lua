-- `approval_edit` is a buffer with the arguments of one call, or with one request, as JSON. A `:w` that is typed there
-- allows it as it is written then.
local approvals = require("cellgate.approvals")
local notify = require("cellgate.notify")
local rpc = require("cellgate.rpc")
local scratch = require("cellgate.scratch")
local typed_write = require("cellgate.typed_write")

local M = {}

---@class cellgate.ArgumentEdit
---@field item cellgate.PendingApproval
---@field buffer integer
---@field opened_at number
---@field refused? string[] the lines whose `:w` was refused a moment ago: some commands close the window all the same
---@field changed fun() called when the buffer was opened, and when it has gone

---@type table<integer, cellgate.ArgumentEdit> by buffer
local edits = {}

--- Whether such a buffer is open, which the preview would cover.
function M.is_open()
  return next(edits) ~= nil
end

local function lines_in(edit)
  return vim.api.nvim_buf_get_lines(edit.buffer, 0, -1, false)
end

---@param edit cellgate.ArgumentEdit
local function refuse(edit, problem)
  edit.refused = lines_in(edit)
  vim.schedule(function()
    edit.refused = nil
  end)
  notify.show(problem .. "; nothing was answered", vim.log.levels.WARN)
end

-- Allows the call with these lines; what the sidecar refuses can be corrected.
---@param edit cellgate.ArgumentEdit
---@return string? problem
local function answer(edit, lines)
  local item = edit.item
  return approvals.allow_edited(item, table.concat(lines, "\n"), edit.opened_at, function(failure)
    local is_there = vim.api.nvim_buf_is_valid(edit.buffer)
    if failure then
      notify.show(rpc.describe(failure), vim.log.levels.ERROR)
      if not is_there and item.session.waiting[item.approval.approvalId] then
        M.open(item, edit.changed, lines)
      end
    elseif is_there then
      vim.bo[edit.buffer].modified = false
      vim.api.nvim_buf_delete(edit.buffer, { force = true })
    end
  end)
end

---@param edit cellgate.ArgumentEdit
---@param problem? string why it was written without an answer of the user
local function write(edit, problem)
  problem = problem or answer(edit, lines_in(edit))
  if problem then
    refuse(edit, problem)
  end
end

---@param edit cellgate.ArgumentEdit
local function closed(edit)
  edits[edit.buffer] = nil
  local refused = edit.refused
  vim.schedule(function()
    if refused then
      M.open(edit.item, edit.changed, refused)
    else
      edit.changed()
    end
  end)
end

---@param edit cellgate.ArgumentEdit
local function listen(edit)
  typed_write.on(edit.buffer, function(problem)
    write(edit, problem)
  end)
  vim.api.nvim_create_autocmd("BufWipeout", {
    buffer = edit.buffer,
    callback = function()
      closed(edit)
    end,
  })
end

---@param item cellgate.PendingApproval
---@return boolean
function M.can_edit(item)
  return item.approval.editText ~= nil
end

--- Opens the arguments of a call, or a request, that can be edited.
---@param item cellgate.PendingApproval
---@param changed fun() called when the buffer was opened, and when it has gone
---@param written? string[] what the user wrote already; absent: the arguments that came
---@return string? problem
function M.open(item, changed, written)
  local name = "edit/" .. item.tag
  local known = scratch.find(name)
  local is_known = known and edits[known]
  local buffer, problem = scratch.open({
    name = name,
    buftype = "acwrite",
    filetype = "json",
    root = item.session.root,
    session = item.approval.sessionId,
    -- What was written there already stays.
    lines = not is_known and (written or vim.split(item.approval.editText, "\n", { plain = true })) or nil,
  })
  if not buffer then
    return problem
  end
  local window = vim.api.nvim_get_current_win()
  -- However the user's files are shown: all of this is to be seen.
  vim.wo[window].conceallevel, vim.wo[window].foldenable = 0, false
  if is_known then
    return
  end
  edits[buffer] = { item = item, buffer = buffer, opened_at = approvals.now(), changed = changed }
  changed()
  listen(edits[buffer])
  if written then
    -- So that commands which write only what was changed do.
    vim.bo[buffer].modified = true
  else
    notify.show(("#%s: :w allows the call as it is here, :q! answers nothing"):format(item.tag))
  end
end

return M
