-- `approval_windows` decides where approvals, and questions of tool servers, are shown: in the windows that the user
-- enters and whose keys answer, or else in the preview; and as marks at the lines of code that ask.
local answering = require("cellgate.elicitation_window")
local edit = require("cellgate.approval_edit")
local elicitations = require("cellgate.elicitations")
local events = require("cellgate.events")
local marks = require("cellgate.approval_marks")
local preview = require("cellgate.approval_preview")
local reader = require("cellgate.approval_reader")
local session = require("cellgate.session")

local M = {}

-- Shows the preview, unless another window shows approvals. While the command-line window is open, Neovim opens and
-- closes no other.
local function show_preview()
  if vim.fn.getcmdwintype() ~= "" then
    return
  elseif reader.is_open() or edit.is_open() then
    preview.hide()
  else
    preview.show()
  end
end

reader.left = show_preview

--- Opens a question of a tool server.
---@param tag? string else the oldest that waits
---@return string? problem
function M.answer(tag)
  local item = elicitations.find(tag)
  if not item then
    return tag and ("no question that waits is #%s"):format(tag) or "no tool server asks anything"
  end
  if vim.fn.mode():find("^[it]") then
    vim.cmd.stopinsert()
  end
  -- A window below can be opened from an ordinary one only.
  reader.leave()
  return answering.open(item, show_preview)
end

--- Enters the reader: the one place whose keys answer approvals. Where only a question waits, opens that.
---@return string? problem
function M.enter()
  if #session.waiting() == 0 and elicitations.find() then
    return M.answer()
  end
  reader.enter()
  show_preview()
end

local function changed()
  marks.draw()
  if vim.fn.getcmdwintype() ~= "" then
    return
  end
  answering.elicitations_changed()
  if reader.is_open() then
    reader.approvals_changed()
  else
    show_preview()
  end
end

function M.setup()
  local scheduled = false
  for _, name in ipairs({ "CellgateApproval", "CellgateElicitation" }) do
    events.on(name, function()
      -- Many may come at once.
      if not scheduled then
        scheduled = true
        vim.schedule(function()
          scheduled = false
          changed()
        end)
      end
    end)
  end
  local group = vim.api.nvim_create_augroup("cellgate.approvals", {})
  local function on(event, act)
    vim.api.nvim_create_autocmd(event, { group = group, callback = vim.schedule_wrap(act) })
  end
  on("TabEnter", function()
    -- Its windows are in the other one.
    reader.leave()
    show_preview()
  end)
  on("VimResized", function()
    reader.screen_changed()
    show_preview()
  end)
  on("CmdwinLeave", changed)
  on({ "WinScrolled", "CursorMoved", "CursorMovedI" }, function()
    reader.windows_changed()
    preview.avoid_cursor()
  end)
end

return M
