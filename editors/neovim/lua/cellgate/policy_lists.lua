-- `policy_lists` is the lists of the gate: its rules, and its decision history.
local list_window = require("cellgate.list_window")
local policy_words = require("cellgate.policy_words")
local session = require("cellgate.session")

local M = {}

---@param root string
function M.rules(root)
  local here = session.of(root)
  list_window.open({
    name = "rules",
    root = root,
    read = list_window.by_request(here, "policy/list", {}, function(result)
      return vim.tbl_map(function(rule)
        local group = rule.effect == "deny" and "DiagnosticError" or nil
        return { text = policy_words.rule(rule), value = rule, id = rule.id, group = group }
      end, result.rules)
    end),
    keys = {
      ["<CR>"] = {
        does = "all of it",
        act = function(rule)
          list_window.show_text({ name = "rule", root = root }, policy_words.rule_whole(rule))
        end,
      },
      X = {
        does = "revoke",
        act = function(rule, refresh)
          here:request("policy/remove", { ruleId = rule.id }, list_window.or_tell(refresh))
        end,
      },
    },
  })
end

--- The decision history, also what a rule allowed without a question.
---@param root string
function M.decisions(root)
  local here = session.of(root)
  list_window.open({
    name = "decisions",
    root = root,
    events = { "CellgateExecution", "CellgateApproval" },
    read = list_window.by_request(here, "policy/decisions", {}, function(result)
      local rows = {}
      for _, past in ipairs(result.decisions) do
        local shows_outcome = past.cancellable or past.outcome and past.outcome.status ~= "succeeded"
        local by = policy_words.decided_by(past) .. (shows_outcome and ", " .. policy_words.outcome(past) or "")
        rows[#rows + 1] = {
          text = ("%s  %s  %s"):format(list_window.clock_time(past.decidedAt), past.display[1], by),
          value = past,
          id = tostring(past.number),
          group = past.decision == "deny" and "DiagnosticError" or nil,
        }
      end
      if result.forgotten > 0 then
        rows[#rows + 1] = { text = ("… %d more are not shown"):format(result.forgotten), group = "Comment" }
      end
      return rows
    end),
    keys = {
      ["<CR>"] = {
        does = "all of it, and why",
        act = function(past)
          local words = policy_words.decision(past, past.decidedAt, policy_words.outcome(past))
          list_window.show_text({ name = "decision", root = root }, words)
        end,
      },
      X = {
        does = "cancel a call that goes on",
        act = function(past, refresh)
          here:request("action/cancel", { number = past.number }, list_window.or_tell(refresh))
        end,
      },
    },
  })
end

return M
