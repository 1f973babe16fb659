-- `approval_reader_text` is the reader's text apart from what is asked: the choices, the keys, and what they would do.
local text = require("cellgate.text")

local M = {}

M.help = {
  "1-9    allow, for what the line of the number says",
  "d      deny            D   deny, with a reason for the code",
  "e      change the arguments of the call at the cursor, if it has some; :w allows that one call with them",
  "x      ungroup the call at the cursor, to answer it by itself",
  "r      take in what came since          ] [   the next and the last group",
  "w      why it is asked                  o     go to the line that asks",
  "q      leave; everything goes on waiting",
  "Keys count half a second after a change, and 1-9 and e after the end was shown. ? goes back.",
}

local keys_line = "d deny   D deny, and say why%s   x ungroup   ? more keys   q later"
local short_keys_line = "d deny  D say why  ? keys  q later"

local function add_wrapped(rows, line, width, highlight)
  for _, piece in ipairs(text.wrap(text.visible(line), width, "   ")) do
    rows[#rows + 1] = { text = piece, group = highlight }
  end
end

--- Those of the choices that have keys.
---@param items cellgate.PendingApproval[]
---@param choices Choice[]
---@param width integer
---@return cellgate.Row[]
function M.choice_rows(items, choices, width)
  local rows = {}
  for i = 1, math.min(9, #choices) do
    local choice = choices[i]
    local each = #items > 1 and not choice.rule and (" (each of these %d)"):format(#items) or ""
    add_wrapped(rows, ("%d  %s%s"):format(i, choice.label, each), width)
  end
  return rows
end

---@param width integer
---@return cellgate.Row[]
function M.help_rows(width)
  local rows = {}
  for _, line in ipairs(M.help) do
    add_wrapped(rows, line, width)
  end
  return rows
end

--- The keys, what they would do now, and why the last one did nothing.
---@param state string
---@param more integer approvals that came since
---@param can_edit boolean one of what is shown
---@param message? string
---@param width integer
---@return cellgate.Row[]
function M.key_rows(state, more, can_edit, message, width)
  local rows = {}
  local keys = keys_line:format(can_edit and "   e edit" or "")
  add_wrapped(rows, vim.fn.strdisplaywidth(keys) <= width and keys or short_keys_line, width)
  add_wrapped(rows, state .. (more > 0 and ("; %d more came: r"):format(more) or ""), width, "Comment")
  if message then
    add_wrapped(rows, message, width, "DiagnosticWarn")
  end
  return rows
end

return M
