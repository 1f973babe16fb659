-- `policy_words` is the rules and decisions of the gate in words.
local text = require("cellgate.text")

local M = {}

-- Of what a tool server itself reaches.
local function for_server(rule)
  return rule.server and " for " .. rule.server or ""
end

-- "GET, HEAD api.example.org/repos/**", "requests to api.example.org, with ${secret:TOKEN} as bearer"
local function requests(rule)
  local paths = rule.paths or {}
  local first = paths[1] or ""
  local places = { (rule.host or "any host") .. (first:match("^[^/]") and " " or "") .. first }
  vim.list_extend(places, paths, 2)
  local words = (rule.methods and table.concat(rule.methods, ", ") .. " " or "requests to ")
    .. table.concat(places, " and ")
  local inject = rule.inject
  if inject and inject.as == "aws" then
    words = words .. ", signed for AWS with " .. inject.value
  elseif inject then
    words = ("%s, with %s as %s%s"):format(words, inject.value, inject.as, inject.name and " " .. inject.name or "")
    words = words .. (inject.variable and ", and a placeholder in " .. inject.variable or "")
  end
  words = words .. (rule.openapi and ", described by " .. rule.openapi or "")
  return words .. for_server(rule)
end

--- A request: "POST https://api.example.org/graphql".
---@param action Action
---@return string
function M.request(action)
  local socket = action.method == "WEBSOCKET"
  local tls = action.tls ~= false
  local usual = not action.port or action.port == (tls and 443 or 80)
  return ("%s %s%s://%s%s%s"):format(
    socket and "open" or action.method,
    socket and "ws" or "http",
    tls and "s" or "",
    action.host,
    usual and "" or ":" .. action.port,
    action.path
  )
end

--- Output on its way to an agent: "output to an agent, which may have results of gmail/list".
---@param action Action
---@return string
function M.output(action)
  local results = action.results and ", which may have results of " .. table.concat(action.results, ", ") or ""
  return "output to an agent" .. results
end

--- A rule, as the command line writes it where it can.
---@param rule Rule
---@return string
function M.rule(rule)
  local words = { rule.effect }
  local what = {}
  if rule.kind == "request" then
    what[#what + 1] = requests(rule)
  elseif rule.kind == "server" then
    what[#what + 1] = "start of " .. (rule.server or "any tool server")
  elseif rule.kind == "network" then
    what[#what + 1] = "network"
      .. (rule.host and " " .. (rule.protocol and "tcp://" or "") .. rule.host or "")
      .. for_server(rule)
  elseif rule.server or rule.tool then
    what[#what + 1] = (rule.server or "*") .. "/" .. (rule.tool or "*")
  elseif rule.kind then
    what[#what + 1] = rule.kind
  end
  for pointer, matcher in vim.spairs(rule.arguments or {}) do
    local how, value = next(matcher)
    what[#what + 1] = ("%s=%s%s"):format(
      pointer:gsub("^/", ""),
      how == "equals" and "" or how .. ":",
      type(value) == "string" and value or (vim.json.encode(value):gsub("\\/", "/"))
    )
  end
  words[#words + 1] = (#what > 0 and table.concat(what, " ") or "everything")
    .. (rule.payloadHash and ", exactly one payload" or "")
    .. (rule.confirm and ", confirmed by a touch of a security key" or "")
  local lives = {
    default = "built in",
    user = "from your settings",
    commandLine = "from the command line",
    execution = "while a cell runs",
    session = "in session " .. (rule.sessionId or "?"),
    workspaceStore = "in this workspace",
    userStore = "always",
  }
  local ends = (rule.expiresAt and ", until " .. rule.expiresAt or "")
    .. (rule.uses and (", for %d more"):format(rule.uses) or "")
  words[#words + 1] = "  " .. lives[rule.source] .. ends
  return table.concat(words, " ")
end

--- A rule, and each of its fields in a line.
---@param rule Rule
---@return string
function M.rule_whole(rule)
  local words = { M.rule(rule), "" }
  for name, value in vim.spairs(rule) do
    words[#words + 1] = name
      .. ": "
      .. (type(value) == "table" and vim.json.encode(value):gsub("\\/", "/") or tostring(value))
  end
  return table.concat(words, "\n")
end

--- How it was decided.
---@param past PastDecision
---@return string
function M.decided_by(past)
  if past.by == "noClient" then
    return "not allowed, no user was there" -- the program that asked may ask its own user
  end
  local by = {
    rule = past.rule and past.rule.effect == past.decision and "by a rule" or "without a question",
    user = "by a user"
      .. (past.rule and ", with a rule" or "")
      .. (past.confirmation and ", confirmed by a touch of a security key" or ""),
    cancelled = "as the call was given up",
    elicitation = "at the agent's own program",
  }
  return (past.decision == "allow" and "allowed " or "denied ") .. by[past.by]
end

--- What became of it; nothing of what was denied.
---@param past PastDecision
---@return string?
function M.outcome(past)
  if past.decision == "deny" then
    return nil
  end
  local outcome = past.outcome
  if not outcome then
    return past.cancellable and "it goes on" or "it has not ended"
  end
  local ends = { cancelled = "was cancelled", unknown = "was left to the agent" }
  local words = "it " .. (ends[outcome.status] or outcome.status)
  if outcome.error then
    words = words .. ": " .. outcome.error
  end
  if outcome.bytesSent and outcome.bytesReceived then
    words = ("%s, %d bytes sent and %d received"):format(words, outcome.bytesSent, outcome.bytesReceived)
  end
  return words
end

--- All of a decision.
---@param past PastDecision
---@param time string
---@param became? string what became of its action
---@return string
function M.decision(past, time, became)
  local words = vim.list_extend({}, past.display)
  if past.edited then
    local request = past.action and past.action.kind == "request"
    words[#words + 1] = request and "(a user changed the request)" or "(a user changed the arguments)"
  end
  if not past.action then
    words[#words + 1] = "(its payload was too large to keep)"
  end
  vim.list_extend(words, { "", ("%s, %s: %s"):format(time, M.decided_by(past), past.reason) })
  words[#words + 1] = became
  if past.rule then
    words[#words + 1] = "rule: " .. M.rule(past.rule)
  end
  if past.agent then
    words[#words + 1] = "by agent " .. past.agent
  end
  if past.origin then
    words[#words + 1] = ("line %d, reported by the code: %s"):format(past.origin.line + 1, past.origin.text)
  end
  return table.concat(vim.tbl_map(text.visible, words), "\n")
end

return M
