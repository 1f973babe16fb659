-- `policy_lists` is the lists of the gate: its rules, and its decision history.
local list_window = require("cellgate.list_window")
local session = require("cellgate.session")
local text = require("cellgate.text")

local M = {}

-- A rule in words, as the command line writes it where it can.
---@param rule Rule
---@return string
local function rule_words(rule)
  local words = { rule.effect }
  local what = {}
  if rule.server or rule.tool then
    what[#what + 1] = (rule.server or "*") .. "/" .. (rule.tool or "*")
  elseif rule.kind then
    what[#what + 1] = rule.kind
  end
  if rule.host then
    what[#what + 1] = rule.host
  end
  for pointer, matcher in vim.spairs(rule.arguments or {}) do
    local how, value = next(matcher)
    what[#what + 1] = ("%s=%s%s"):format(
      pointer:gsub("^/", ""),
      how == "equals" and "" or how .. ":",
      type(value) == "string" and value or (vim.json.encode(value):gsub("\\/", "/"))
    )
  end
  if rule.payloadHash then
    what[#what + 1] = "exactly one payload"
  end
  words[#words + 1] = #what > 0 and table.concat(what, " ") or "everything"
  local lives = {
    default = "built in",
    user = "from your settings",
    commandLine = "from the command line",
    execution = "while a cell runs",
    session = "in session " .. (rule.sessionId or "?"),
    workspaceStore = "in this workspace",
    userStore = "always",
  }
  words[#words + 1] = "  " .. lives[rule.source] .. (rule.expiresAt and ", until " .. rule.expiresAt or "")
  return table.concat(words, " ")
end

---@param root string
function M.rules(root)
  local here = session.of(root)
  list_window.open({
    name = "rules",
    root = root,
    read = list_window.by_request(here, "policy/list", {}, function(result)
      return vim.tbl_map(function(rule)
        local group = rule.effect == "deny" and "DiagnosticError" or nil
        return { text = rule_words(rule), value = rule, id = rule.id, group = group }
      end, result.rules)
    end),
    keys = {
      X = {
        does = "revoke",
        act = function(rule, refresh)
          here:request("policy/remove", { ruleId = rule.id }, list_window.or_tell(refresh))
        end,
      },
    },
  })
end

-- A time of the protocol, as the clock here shows it; of another day, with that day.
local function clock_time(rfc3339)
  local as_if_local = vim.fn.strptime("%Y-%m-%dT%H:%M:%S", rfc3339:sub(1, 19))
  local sign, hours, minutes = os.date("%z", as_if_local):match("([+-])(%d%d)(%d%d)")
  local offset = hours * 3600 + minutes * 60
  local time = as_if_local + (sign == "-" and -offset or offset)
  local today = os.date("%Y-%m-%d") == os.date("%Y-%m-%d", time)
  return os.date(today and "%H:%M:%S" or "%Y-%m-%d %H:%M:%S", time)
end

---@param past PastDecision
local function decided_by(past)
  local by = {
    rule = past.rule and past.rule.effect == past.decision and "by a rule" or "without a question",
    user = "by a user" .. (past.rule and ", with a rule" or ""),
    cancelled = "as the call was given up",
    noClient = "as no user was there to answer",
    elicitation = "at the agent's own program",
  }
  return (past.decision == "allow" and "allowed " or "denied ") .. by[past.by]
end

-- What became of it; nothing of what was denied.
---@param past PastDecision
---@return string?
local function outcome_words(past)
  if past.decision == "deny" then
    return nil
  end
  local outcome = past.outcome
  if not outcome then
    return past.cancellable and "it goes on" or "it has not ended"
  end
  local words = "it " .. (outcome.status == "cancelled" and "was cancelled" or outcome.status)
  if outcome.error then
    words = words .. ": " .. outcome.error
  end
  if outcome.bytesSent and outcome.bytesReceived then
    words = ("%s, %d bytes sent and %d received"):format(words, outcome.bytesSent, outcome.bytesReceived)
  end
  return words
end

---@param past PastDecision
local function decision_words(past)
  local words = vim.list_extend({}, past.display)
  if past.edited then
    words[#words + 1] = "(a user changed the arguments)"
  end
  if not past.action then
    words[#words + 1] = "(its payload was too large to keep)"
  end
  vim.list_extend(words, { "", ("%s, %s: %s"):format(past.decidedAt, decided_by(past), past.reason) })
  words[#words + 1] = outcome_words(past)
  if past.rule then
    words[#words + 1] = "rule: " .. rule_words(past.rule)
  end
  if past.agent then
    words[#words + 1] = "by agent " .. past.agent
  end
  if past.origin then
    words[#words + 1] = ("line %d, reported by the code: %s"):format(past.origin.line + 1, past.origin.text)
  end
  return table.concat(vim.tbl_map(text.visible, words), "\n")
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
        local by = decided_by(past) .. (shows_outcome and ", " .. outcome_words(past) or "")
        rows[#rows + 1] = {
          text = ("%s  %s  %s"):format(clock_time(past.decidedAt), past.display[1], by),
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
          list_window.show_text({ name = "decision", root = root }, decision_words(past))
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
