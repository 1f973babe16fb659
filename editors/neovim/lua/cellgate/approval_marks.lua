-- `approval_marks` is the signs and words at the lines of code that ask.
local places = require("cellgate.places")
local session = require("cellgate.session")
local text = require("cellgate.text")
local workspace = require("cellgate.workspace")

local M = {}

local namespace = vim.api.nvim_create_namespace("cellgate.approvals")

local max_cells = 60

--- Puts the marks where something asks now, and takes all others away.
function M.draw()
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
      local row = places.row_of(item.approval.executionId, origin.line)
      if row < vim.api.nvim_buf_line_count(buffer) then
        local key = buffer .. ":" .. row
        at_row[key] = at_row[key] or { buffer = buffer, row = row, items = {} }
        table.insert(at_row[key].items, item)
      end
    end
  end
  for _, place in pairs(at_row) do
    local first = place.items[1]
    local words = #place.items == 1 and text.wrap(text.visible(first.approval.display[1]), max_cells, "")[1]
      or ("%d calls"):format(#place.items)
    vim.api.nvim_buf_set_extmark(place.buffer, namespace, place.row, 0, {
      sign_text = "?",
      sign_hl_group = "DiagnosticWarn",
      virt_text = { { ("  asks #%s: %s"):format(first.tag, words), "DiagnosticWarn" } },
      virt_text_pos = "eol",
    })
  end
end

return M
