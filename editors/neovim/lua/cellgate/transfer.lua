-- `transfer` copies a variable of a session to another one.
local limits = require("cellgate.limits")
local list_window = require("cellgate.list_window")
local notify = require("cellgate.notify")
local session = require("cellgate.session")
local text = require("cellgate.text")

local M = {}

local usage = "which variable, and to which session? For example :Cellgate transfer rows typescript as table"

---@param root string
---@param from string the session that has it
---@param arguments string[] NAME TO, and then `as` NEW
---@return string? problem
function M.act(root, from, arguments)
  local name, to, as, new = unpack(arguments)
  if #arguments ~= 2 and not (#arguments == 4 and as == "as") then
    return usage
  end
  local params = { from = from, to = to, name = name, as = new }
  local told = list_window.or_tell(function(result)
    local words = { new or name, text.visible(to), text.visible(result.type), limits.bytes_words(result.bytes) }
    notify.show(("%s was copied to %s: %s, %s"):format(unpack(words)))
  end)
  session.of(root):request("session/transfer", params, told)
end

--- The sessions that there are, for completion.
---@param root string
---@return string[]
function M.targets(root)
  local answer = session.answer_at_once(root, "session/list")
  return vim.tbl_map(function(each)
    return each.sessionId
  end, answer and answer.sessions or {})
end

return M
