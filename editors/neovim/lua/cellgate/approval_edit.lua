-- Other arguments for one call, as JSON in a buffer: a `:w` that is typed there allows the call with them.
local approvals = require("cellgate.approvals")
local json_text = require("cellgate.json_text")
local notice = require("cellgate.notice")
local scratch = require("cellgate.scratch")
local session = require("cellgate.session")
local text = require("cellgate.text")

local M = {}

---@type table<integer, true> buffers
local open = {}

--- Whether arguments are written, which the preview would cover.
function M.is_open()
  return next(open) ~= nil
end

-- Whether the command line that was left a moment ago writes this buffer, all of it and to nowhere else. An autocommand
-- or a plugin that saves files by itself, `:wall` from another window, or `:w copy.json` is nobody's answer.
local typed_write = false

local function note_typed_command()
  if vim.fn.getcmdtype() ~= ":" or vim.v.event.abort then
    return
  end
  local good, command = pcall(vim.api.nvim_parse_cmd, vim.fn.getcmdline(), {})
  if
    good
    and vim.tbl_contains({ "write", "wq", "xit", "exit", "update" }, command.cmd)
    and #command.args == 0
    and #(command.range or {}) == 0
  then
    typed_write = true
    vim.schedule(function()
      typed_write = false
    end)
  end
end

-- A character that cannot be seen, as JSON writes it: the same string to whoever reads it.
local function escaped(point)
  if point < 0x10000 then
    return ("\\u%04x"):format(point)
  end
  point = point - 0x10000
  return ("\\u%04x\\u%04x"):format(0xd800 + math.floor(point / 0x400), 0xdc00 + point % 0x400)
end

-- The arguments that came, to be read and changed.
local function lines_of(arguments)
  return vim.tbl_map(function(line)
    return text.visible(line, escaped)
  end, vim.split(json_text.pretty(arguments), "\n", { plain = true }))
end

--- Opens the arguments of a call.
---@param item cellgate.Waiting
---@param changed fun() called when the buffer was opened, and when it has gone
---@param written? string[] what the person wrote already; absent: the arguments that came
---@return string? problem
function M.open(item, changed, written)
  local arguments = json_text.at(item.body, { "params", "action", "arguments" })
  if not arguments then
    return "this has no arguments to change"
  end
  local name = "edit/" .. item.tag
  local known = scratch.find(name)
  local is_known = known and open[known]
  local buffer, problem = scratch.open({
    name = name,
    buftype = "acwrite",
    filetype = "json",
    root = item.session.root,
    session = item.approval.sessionId,
    -- What was written there already stays.
    lines = not is_known and (written or lines_of(arguments)) or nil,
  })
  if not buffer then
    return problem
  end
  local window = vim.api.nvim_get_current_win()
  -- Whatever a person's files are shown like: all of this is to be seen.
  vim.wo[window].conceallevel, vim.wo[window].foldenable = 0, false
  if is_known then
    return
  end
  open[buffer] = true
  changed()
  local opened_at = approvals.now()
  local function lines()
    return vim.api.nvim_buf_get_lines(buffer, 0, -1, false)
  end
  -- What stood there when it was refused a moment ago: some commands close the window all the same.
  local refused ---@type string[]?
  local function refuse(words, level)
    refused = lines()
    vim.schedule(function()
      refused = nil
    end)
    notice.tell(words, level)
  end
  local function answer(new)
    return approvals.allow_edited(item, table.concat(new, "\n"), opened_at, function(failure)
      if failure then
        notice.tell(session.describe(failure), vim.log.levels.ERROR)
        if not vim.api.nvim_buf_is_valid(buffer) and item.session.waiting[item.approval.approvalId] then
          M.open(item, changed, new)
        end
      elseif vim.api.nvim_buf_is_valid(buffer) then
        vim.bo[buffer].modified = false
        vim.api.nvim_buf_delete(buffer, { force = true })
      end
    end)
  end
  vim.api.nvim_create_autocmd("CmdlineLeave", { buffer = buffer, callback = note_typed_command })
  vim.api.nvim_create_autocmd("BufWriteCmd", {
    buffer = buffer,
    callback = function(event)
      if not typed_write or event.match ~= vim.api.nvim_buf_get_name(buffer) then
        refuse("only :w, typed here and without a name, answers; nothing was answered", vim.log.levels.WARN)
        return
      end
      local fits, line, wrong = json_text.is_object(table.concat(lines(), "\n"))
      local too_soon = fits and answer(lines())
      if not fits or too_soon then
        refuse((too_soon or ("line %d: %s"):format(line, wrong)) .. "; nothing was answered", vim.log.levels.WARN)
      end
    end,
  })
  vim.api.nvim_create_autocmd("BufWipeout", {
    buffer = buffer,
    callback = function()
      open[buffer] = nil
      local kept = refused
      vim.schedule(function()
        if kept then
          M.open(item, changed, kept)
        else
          changed()
        end
      end)
    end,
  })
  if written then
    -- So that commands which write only what was changed do.
    vim.bo[buffer].modified = true
  else
    notice.tell(("#%s: :w allows the call with these arguments, :q! answers nothing"):format(item.tag))
  end
end

return M
