-- `approval_marks` is the signs and words at the lines of code that ask, or for which a tool server asks.
local places = require("cellgate.places")
local session = require("cellgate.session")
local text = require("cellgate.text")
local workspace = require("cellgate.workspace")

local M = {}

local namespace = vim.api.nvim_create_namespace("cellgate.approvals")

local max_cells = 70

---@class cellgate.Asking
---@field tag string
---@field words string
---@field about Approval|Elicitation

---@return cellgate.Asking[]
local function all()
  local asking = {}
  for _, item in ipairs(session.waiting()) do
    local words = item.approval.display[1]
    asking[#asking + 1] = { tag = item.tag, words = "asks #" .. item.tag .. ": " .. words, about = item.approval }
  end
  for _, item in ipairs(session.elicitations()) do
    local asked = item.elicitation
    local words = ("%s asks #%s: %s"):format(asked.server, item.tag, asked.message:match("^[^\n]*"))
    asking[#asking + 1] = { tag = item.tag, words = words, about = asked }
  end
  return asking
end

--- Puts the marks where something asks now, and takes all others away.
function M.draw()
  for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_is_loaded(buffer) then
      vim.api.nvim_buf_clear_namespace(buffer, namespace, 0, -1)
    end
  end
  local at_row = {}
  for _, item in ipairs(all()) do
    local origin = item.about.origin
    local buffer = origin and origin.uri and workspace.buffer(origin.uri)
    if buffer then
      local row = places.row_of(item.about.executionId, origin.line)
      if row < vim.api.nvim_buf_line_count(buffer) then
        local key = buffer .. ":" .. row
        at_row[key] = at_row[key] or { buffer = buffer, row = row, items = {} }
        table.insert(at_row[key].items, item)
      end
    end
  end
  for _, place in pairs(at_row) do
    local first = place.items[1]
    local words = #place.items == 1 and text.wrap(text.visible(first.words), max_cells, "")[1]
      or ("asks #%s: %d calls"):format(first.tag, #place.items)
    vim.api.nvim_buf_set_extmark(place.buffer, namespace, place.row, 0, {
      sign_text = "?",
      sign_hl_group = "DiagnosticWarn",
      virt_text = { { "  " .. words, "DiagnosticWarn" } },
      virt_text_pos = "eol",
    })
  end
end

return M
