-- `elicitations` is the list of what tool servers ask the user, or need before they start, and the rules about
-- answering. Values are sent, and a page is opened, only after a window has shown the question to its end, and nothing
-- is answered within half a second after it was opened. The words of a question with a tool are the server's.
local approvals = require("cellgate.approvals")
local form = require("cellgate.elicitation_form")
local page = require("cellgate.approval_page")
local session = require("cellgate.session")
local text = require("cellgate.text")

local M = {}

---@param tag? string else the oldest that waits
---@return cellgate.PendingElicitation?
function M.find(tag)
  for _, item in ipairs(session.elicitations()) do
    if not tag or item.tag == (tag:gsub("^#", "")) then
      return item
    end
  end
end

---@param item cellgate.PendingElicitation
---@return boolean
function M.waits(item)
  return item.session.elicitations[item.elicitation.elicitationId] ~= nil
end

-- --- what is shown

---@param item cellgate.PendingElicitation
function M.title(item)
  local asked = item.elicitation
  if not asked.tool then
    return ("#%-3s %s"):format(item.tag, (asked.message:gsub("%s*\n%s*", " ")))
  end
  return ("#%-3s %s asks, while its tool %s runs"):format(item.tag, asked.server, asked.tool)
end

-- Whose call it is for, in our words.
---@param asked Elicitation
local function call_lines(asked)
  local lines = {}
  if asked.agent then
    lines[1] = ("the tool is called by an agent that calls itself %s"):format(asked.agent)
  end
  if asked.origin then
    lines[#lines + 1] = approvals.origin_words(asked.origin)
  end
  return lines
end

--- The question without its form. Each row of the server's words begins with `#>`, each of ours with `#`.
---@param item cellgate.PendingElicitation
---@param width integer
---@return cellgate.Row[]
function M.rows(item, width)
  local asked, rows = item.elicitation, {}
  local function add(words, group)
    for _, row in ipairs(text.wrap(text.visible(words), width - 2, "↳ ")) do
      rows[#rows + 1] = { text = "# " .. row, group = group }
    end
  end
  add(M.title(item), "Title")
  for _, line in ipairs(call_lines(asked)) do
    add(line, asked.agent and "DiagnosticWarn" or "Comment")
  end
  if asked.tool then
    vim.list_extend(rows, form.quoted(asked.message, width))
  else
    add("What you answer goes to that server.", "Comment")
  end
  if asked.mode == "url" then
    add("It wants you to open a page of this host:", "Comment")
    add("    " .. asked.host, "Title")
    add("The whole URL:", "Comment")
    add("    " .. asked.url)
  end
  return rows
end

-- --- answering

---@param buffer integer that shows the question
---@return string? problem why nothing counts yet
function M.too_early(buffer)
  return approvals.too_early(page.drawn_at(buffer))
end

---@param buffer integer that shows the question
---@return string? problem why it cannot be accepted yet
function M.not_yet(buffer)
  if approvals.guarded and not page.was_drawn_to_its_end(buffer) then
    return "the question was not yet shown to its end"
  end
  return M.too_early(buffer)
end

--- Answers. `values` is JSON, of an accepted form.
---@param item cellgate.PendingElicitation
---@param action ElicitationAction
---@param values? string
---@param done fun(problem: cellgate.RpcError?)
function M.respond(item, action, values, done)
  local params = ('{"elicitationId":%s,"action":"%s"%s}'):format(
    vim.json.encode(item.elicitation.elicitationId),
    action,
    values and ',"values":' .. values or ""
  )
  item.session:request("elicitation/respond", params, done)
end

return M
