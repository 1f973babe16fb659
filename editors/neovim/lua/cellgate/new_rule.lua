-- `new_rule` adds a rule that the user types, after it has said what the rule covers, and would have covered lately.
local list_window = require("cellgate.list_window")
local notify = require("cellgate.notify")
local session = require("cellgate.session")
local text = require("cellgate.text")

local M = {}

local choices = {
  { does = "add it for this workspace", scope = "workspace" },
  { does = "add it for all workspaces", scope = "always" },
}

local function actions(count, what)
  return ("%d action%s that %s %s"):format(count, count == 1 and "" or "s", count == 1 and "was" or "were", what)
end

--- What a rule would have done in the last 30 days.
---@param rule RuleSpec
---@param preview PolicyPreviewResult
---@return string
function M.preview_words(rule, preview)
  if rule.effect == "inspect" then
    return "it decides nothing; each request to the host is then judged by itself"
  end
  if rule.effect == "review" then
    return "it decides nothing; what an agent gets of a session that has such results then waits for you"
  end
  if preview.allowed + preview.denied == 0 then
    return "it covers no action of the last 30 days"
  end
  local words = ("of the last 30 days it covers %s and %s"):format(
    actions(preview.allowed, "allowed"),
    actions(preview.denied, "denied")
  )
  if rule.effect == "allow" and preview.denied > 0 then
    return words .. "; it would have allowed what was denied"
  end
  return rule.effect == "ask" and words .. "; it would have asked about each" or words
end

---@param root string
---@param words string the rule in its short form
function M.add(root, words)
  local here = session.of(root)
  local function offer(parsed, preview)
    vim.ui.select(choices, {
      prompt = ("%s (%s)"):format(text.visible(parsed.words), M.preview_words(parsed.rule, preview)),
      format_item = function(choice)
        return choice.does
      end,
    }, function(choice)
      if choice then
        local params = { rule = parsed.rule, scope = choice.scope }
        here:request(
          "policy/add",
          params,
          list_window.or_tell(function()
            notify.show("added: " .. parsed.words)
          end)
        )
      end
    end)
  end
  here:request(
    "policy/parse",
    { text = words },
    list_window.or_tell(function(parsed)
      here:request(
        "policy/preview",
        { rule = parsed.rule },
        list_window.or_tell(function(preview)
          offer(parsed, preview)
        end)
      )
    end)
  )
end

return M
