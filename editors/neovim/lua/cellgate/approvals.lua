-- `approvals` is the list of actions that wait for the user, and the rules about answering them. An approval is allowed
-- only after a window has shown it to its end, and nothing is answered within half a second after a change of what is
-- shown. A key answers exactly the approvals that its window shows.
local events = require("cellgate.events")
local notify = require("cellgate.notify")
local rpc = require("cellgate.rpc")
local session = require("cellgate.session")
local text = require("cellgate.text")

local M = {}

-- How long keys are dead after a change of what they would answer.
local quiet_milliseconds = 500

--- The clock; tests put theirs here.
function M.now()
  return vim.uv.hrtime() / 1e6
end

--- For the test that shows what the guard is good for; nothing else turns it off.
M.guarded = true

---@alias cellgate.Shown "action"|"choices" to the end: what is asked; or also the choices

---@type table<string, cellgate.Shown> by approval
local shown = {}
---@type table<string, true> approvals that are answered by themselves, because the user wants it so
local ungrouped = {}
local set_changed_at = -math.huge

events.on("CellgateApproval", function()
  set_changed_at = M.now()
  local waits = {}
  for _, item in ipairs(session.waiting()) do
    waits[item.approval.approvalId] = true
  end
  for _, known in ipairs({ shown, ungrouped }) do
    for id in pairs(known) do
      if not waits[id] then
        known[id] = nil
      end
    end
  end
end)

--- Records that a window has shown these to their end.
---@param items cellgate.PendingApproval[]
---@param what cellgate.Shown
function M.set_shown(items, what)
  for _, item in ipairs(items) do
    local id = item.approval.approvalId
    if shown[id] ~= "choices" then
      shown[id] = what
    end
  end
end

--- What the reader shows has changed: its end has to be shown again.
---@param items cellgate.PendingApproval[]
function M.forget_shown(items)
  for _, item in ipairs(items) do
    shown[item.approval.approvalId] = nil
  end
end

---@param since? number when what the user looks at was drawn as it is now; nil: it was not yet
---@return string? problem why a key does not count yet
function M.too_early(since)
  if M.guarded and (not since or M.now() - since < quiet_milliseconds) then
    return "what is asked has just changed"
  end
end

---@param items cellgate.PendingApproval[]
---@param needed cellgate.Shown
---@return string? problem why this cannot be allowed yet
function M.not_shown(items, needed)
  for _, item in ipairs(M.guarded and items or {}) do
    local what = shown[item.approval.approvalId]
    if not what then
      return ("#%s was not yet shown to its end"):format(item.tag)
    elseif what ~= needed and needed == "choices" then
      return ("the choices of #%s were not yet shown"):format(item.tag)
    end
  end
end

--- The one place that decides whether something may be allowed: for keys, for tags and for other arguments.
---@param items cellgate.PendingApproval[]
---@param needed cellgate.Shown
---@param since? number
---@return string? problem
function M.not_yet(items, needed, since)
  return M.too_early(since) or M.not_shown(items, needed)
end

-- --- grouping

---@class cellgate.Group approvals of one cell and tool, with the same choices, that one answer can cover
---@field key string
---@field items cellgate.PendingApproval[]
---@field choices Choice[]

---@param id string
function M.ungroup(id)
  ungrouped[id] = true
end

local function key_of(item)
  local approval = item.approval
  local parts = {
    item.session.root,
    approval.executionId or "",
    approval.agent or "",
    approval.action.kind,
    approval.action.server or "",
    approval.action.tool or "",
    table.concat(approval.definitionChanges or {}, "\n"),
    approval.confirm or "",
    ungrouped[approval.approvalId] and approval.approvalId or "",
  }
  -- Where the rule for a folder differs, a call names another folder: it is not answered with the others.
  for _, choice in ipairs(approval.choices) do
    parts[#parts + 1] = choice.scope .. choice.label
  end
  return table.concat(parts, "\0")
end

--- What waits, in groups: small ones first, so that the one call that is different is looked at before the many.
---@return cellgate.Group[]
function M.groups()
  local groups, by_key = {}, {}
  for _, item in ipairs(session.waiting()) do
    local key = key_of(item)
    local group = by_key[key]
    if not group then
      group = { key = key, items = {}, choices = item.approval.choices }
      by_key[key] = group
      groups[#groups + 1] = group
    end
    table.insert(group.items, item)
  end
  table.sort(groups, function(a, b)
    if #a.items ~= #b.items then
      return #a.items < #b.items
    end
    return tonumber(a.items[1].tag) < tonumber(b.items[1].tag)
  end)
  return groups
end

-- --- what is shown

---@class cellgate.Row
---@field text string
---@field group? string highlight
---@field item? cellgate.PendingApproval whose row it is; absent: everyone's

local function file_of(uri)
  return uri:find("^file:") and vim.fn.fnamemodify(vim.uri_to_fname(uri), ":t") or uri
end

--- The line that asks, in words.
---@param origin Origin
---@return string
function M.origin_words(origin)
  local where = origin.uri and file_of(origin.uri) .. " " or ""
  return ("%sline %d (reported by the code): %s"):format(where, origin.line + 1, origin.text)
end

-- What there is to read of one approval.
local function lines_of(approval)
  local lines = vim.list_slice(approval.display)
  if approval.origin then
    lines[#lines + 1] = M.origin_words(approval.origin)
  end
  return lines
end

-- Lines that all of several have at the same place are shown once.
local function common_lines(all)
  local common = {}
  for i, line in ipairs(#all > 1 and all[1] or {}) do
    common[i] = vim.iter(all):all(function(lines)
      return lines[i] == line
    end)
  end
  return common
end

-- What a server writes about itself decides nothing, and may not push aside what does.
local max_hint_characters = 200

local function hint_lines(hints)
  local lines = {}
  if hints.title then
    lines[1] = "the server calls it: " .. hints.title
  end
  if hints.description then
    -- The sidecar has broken it into quoted lines, for terminals.
    local words = hints.description:gsub("^> ", ""):gsub("\n> ", ""):gsub("%s+", " ")
    if vim.fn.strchars(words) > max_hint_characters then
      words = vim.fn.strcharpart(words, 0, max_hint_characters) .. " …"
    end
    lines[#lines + 1] = "and describes it: " .. words
  end
  return lines
end

local change_highlights = { ["+"] = "Added", ["-"] = "Removed" }

--- The rows of a group: everything that there is to read before an answer, nothing cut.
---@param items cellgate.PendingApproval[]
---@param width integer
---@return cellgate.Row[]
function M.rows(items, width)
  local rows = {}
  local function add(line, highlight, item)
    -- The sidecar sends only what is visible; this is for what it does not write.
    for _, row in ipairs(text.wrap(text.visible(line), width, "↳ ")) do
      rows[#rows + 1] = { text = row, group = highlight, item = item }
    end
  end
  local first = items[1].approval
  if first.agent then
    add(("an agent that calls itself %s asks"):format(first.agent), "DiagnosticWarn")
  end
  local all = vim.tbl_map(function(item)
    return lines_of(item.approval)
  end, items)
  local common = common_lines(all)
  for i, line in ipairs(all[1]) do
    if common[i] then
      add(line, i == 1 and "Title" or nil)
    end
  end
  for number, item in ipairs(items) do
    local tag = "#" .. item.tag
    for i, line in ipairs(all[number]) do
      if not common[i] then
        add(("%-4s %s"):format(tag, line), i == 1 and "Title" or nil, item)
        tag = ""
      end
    end
    if tag ~= "" then
      add(("%-4s the same"):format(tag), nil, item)
    end
  end
  if first.definitionChanges then
    add("its definition has changed since it was last allowed:", "DiagnosticWarn")
  end
  for _, line in ipairs(first.definitionChanges or {}) do
    add(line, change_highlights[line:sub(1, 1)])
  end
  for _, line in ipairs(hint_lines(first.hints)) do
    add(line, "Comment")
  end
  return rows
end

-- --- answering

---@param items cellgate.PendingApproval[]
---@param answer { decision: "allow"|"deny", scope?: Scope, rule?: RuleSpec, reason?: string, argumentsText?: string }
---@param done? fun(problem: cellgate.RpcError?)
local function respond(items, answer, done)
  local ids = vim.tbl_map(function(item)
    return item.approval.approvalId
  end, items)
  local params = vim.tbl_extend("force", { approvalIds = ids }, answer)
  local confirms = vim.iter(items):any(function(item)
    return item.approval.confirm ~= nil
  end)
  if answer.decision == "allow" and confirms then
    notify.show("touch your security key…")
  end
  items[1].session:request("approval/respond", params, done or function(problem)
    if problem then
      notify.show(rpc.describe(problem), vim.log.levels.WARN)
    end
  end)
end

-- The call that was shown, and no rule: its label adds nothing that has to be read.
local function is_this_call(choice)
  return choice.scope == "once" and not choice.rule
end

--- Allows what one choice of all these approvals describes.
---@param items cellgate.PendingApproval[]
---@param choice Choice
---@param since? number when what the user looks at was drawn
---@return string? problem why not
function M.allow(items, choice, since)
  local problem = M.not_yet(items, is_this_call(choice) and "action" or "choices", since)
  if not problem then
    respond(items, { decision = "allow", scope = choice.scope, rule = choice.rule })
  end
  return problem
end

---@param items cellgate.PendingApproval[]
---@param reason? string
---@param since? number
---@return string? problem why not
function M.deny(items, reason, since)
  local problem = M.too_early(since)
  if not problem then
    respond(items, { decision = "deny", reason = reason ~= "" and reason or nil })
  end
  return problem
end

--- Allows one call with other arguments.
---@param item cellgate.PendingApproval
---@param arguments string
---@param since? number when the arguments were opened
---@param done fun(problem: cellgate.RpcError?)
---@return string? problem why not
function M.allow_edited(item, arguments, since, done)
  local problem = M.not_yet({ item }, "action", since)
  if not problem then
    respond({ item }, { decision = "allow", scope = "once", argumentsText = arguments }, done)
  end
  return problem
end

--- Why this would be allowed, asked or denied.
---@param item cellgate.PendingApproval
function M.explain(item)
  local approval = item.approval
  local params = { action = approval.action, sessionId = approval.sessionId, executionId = approval.executionId }
  item.session:request("policy/explain", params, function(problem, result)
    notify.show(problem and rpc.describe(problem) or ("%s: %s"):format(result.effect, result.reason))
  end)
end

-- --- by tag

---@param tag string
---@return cellgate.PendingApproval?
function M.by_tag(tag)
  for _, item in ipairs(session.waiting()) do
    if item.tag == (tag:gsub("^#", "")) then
      return item
    end
  end
end

--- `:Cellgate allow {tag} [choice]`
---@param tag string
---@param word? string number of the choice, from 1; without one it is the call alone
---@return string? problem
function M.allow_tag(tag, word)
  local item = M.by_tag(tag)
  if not item then
    return ("nothing that waits is #%s"):format(tag)
  end
  local choices = item.approval.choices
  local number = word and word:match("^%d+$") and tonumber(word)
  if word and not number then
    return ("%s is no number of a choice. Nothing was answered"):format(word)
  end
  for i, choice in ipairs(word and {} or choices) do
    number = number or is_this_call(choice) and i
  end
  local choice = choices[number]
  if not choice then
    return ("#%s has %d choices"):format(tag, #choices)
  end
  local problem = M.allow({ item }, choice, set_changed_at)
  return problem and ("%s. Nothing was answered; :Cellgate approvals shows all of it"):format(problem)
end

--- `:Cellgate deny {tag} [reason]`
---@param tag string
---@param reason? string
---@return string? problem
function M.deny_tag(tag, reason)
  local item = M.by_tag(tag)
  if not item then
    return ("nothing that waits is #%s"):format(tag)
  end
  return M.deny({ item }, reason, set_changed_at)
end

return M
