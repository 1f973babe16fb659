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

--- The sessions that there are. Completion starts nothing.
---@param root string
---@return string[]
function M.targets(root)
  local names, done = {}, false
  local there = session.all[root]
  if not there or there.connection.state ~= "ready" then
    return names
  end
  there:request("session/list", {}, function(problem, result)
    for _, each in ipairs(problem and {} or result.sessions) do
      names[#names + 1] = each.sessionId
    end
    done = true
  end)
  vim.wait(300, function()
    return done
  end)
  return names
end

return M
