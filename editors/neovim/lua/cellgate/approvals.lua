-- What waits for an answer, and whether it may be answered now. The rules against stray keys are here, and nowhere
-- else: an approval is allowed only after every row of it was drawn on the screen, and nothing is answered within
-- half a second after what is looked at has changed.
local events = require("cellgate.events")
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

---@class cellgate.Displayed what of an approval was on the screen
---@field text boolean every row of what it asks for
---@field choices table<integer, true> of which every row was

---@type table<string, cellgate.Displayed> by approval
local displayed = {}
---@type table<string, true> approvals that the person set apart
local apart = {}
local set_changed_at = -math.huge

events.on("CellgateApproval", function()
  set_changed_at = M.now()
  local waits = {}
  for _, item in ipairs(session.waiting()) do
    waits[item.approval.approvalId] = true
  end
  for _, known in ipairs({ displayed, apart }) do
    for id in pairs(known) do
      if not waits[id] then
        known[id] = nil
      end
    end
  end
end)

local function of(id)
  displayed[id] = displayed[id] or { text = false, choices = {} }
  return displayed[id]
end

---@param id string
function M.set_displayed(id)
  of(id).text = true
end

---@param id string
---@param number integer of the choice
function M.set_choice_displayed(id, number)
  of(id).choices[number] = true
end

--- The choices have to be drawn again, because the keys are for those that stand on the screen as it is now.
---@param items cellgate.Waiting[]
function M.forget_choices(items)
  for _, item in ipairs(items) do
    of(item.approval.approvalId).choices = {}
  end
end

---@param since? number when what the person looks at was drawn as it is now; nil: it was not yet
---@return string? problem why a key does not count yet
function M.too_early(since)
  if M.guarded and (not since or M.now() - since < quiet_milliseconds) then
    return "what is asked has just changed"
  end
end

---@param items cellgate.Waiting[]
---@param choices integer[] numbers of those that are needed beside the text
---@return string? problem why this cannot be allowed yet
function M.not_displayed(items, choices)
  for _, item in ipairs(M.guarded and items or {}) do
    local known = of(item.approval.approvalId)
    if not known.text then
      return ("#%s was not yet shown to its end"):format(item.tag)
    end
    for _, number in ipairs(choices) do
      if not known.choices[number] then
        return ("choice %d of #%s was not yet shown"):format(number, item.tag)
      end
    end
  end
end

--- The one place that says whether something may be allowed: for keys, for what the window says about its keys, for
--- tags and for other arguments.
---@param items cellgate.Waiting[]
---@param choices integer[] numbers of those that have to have been shown, beside all of the text
---@param since? number
---@return string? problem
function M.not_yet(items, choices, since)
  return M.too_early(since) or M.not_displayed(items, choices)
end

-- --- grouping

---@class cellgate.Group approvals of one cell and tool, with the same choices, that one answer can cover
---@field key string
---@field items cellgate.Waiting[]
---@field choices Choice[]

---@param id string
function M.set_apart(id)
  apart[id] = true
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
    apart[approval.approvalId] and approval.approvalId or "",
  }
  -- Where a folder rule differs, a call leads elsewhere: it is not answered with the others.
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
---@field item? cellgate.Waiting whose row it is; absent: everyone's
---@field choice? integer number of the choice that it is of

local function file_of(uri)
  return uri:find("^file:") and vim.fn.fnamemodify(vim.uri_to_fname(uri), ":t") or uri
end

-- What there is to read of one approval.
local function lines_of(approval)
  local lines = vim.list_slice(approval.display)
  if approval.origin then
    local origin = approval.origin
    local where = origin.uri and file_of(origin.uri) .. " " or ""
    lines[#lines + 1] = ("%sline %d (reported by the code): %s"):format(where, origin.line + 1, origin.text)
  end
  if approval.expiresAt then
    lines[#lines + 1] = "denied by itself at " .. approval.expiresAt
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

-- What a server says about itself decides nothing, and is not to push aside what does.
local most_hint_characters = 200

local function hint_lines(hints)
  local lines = {}
  if hints.title then
    lines[1] = "the server calls it: " .. hints.title
  end
  if hints.description then
    -- The sidecar has broken it into quoted lines, for terminals.
    local words = hints.description:gsub("^> ", ""):gsub("\n> ", ""):gsub("%s+", " ")
    if vim.fn.strchars(words) > most_hint_characters then
      words = vim.fn.strcharpart(words, 0, most_hint_characters) .. " …"
    end
    lines[#lines + 1] = "and says of it: " .. words
  end
  return lines
end

--- The rows of a group: everything that there is to read before an answer, nothing cut.
---@param items cellgate.Waiting[]
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
  for _, line in ipairs(hint_lines(first.hints)) do
    add(line, "Comment")
  end
  return rows
end

-- --- answering

---@param items cellgate.Waiting[]
---@param answer { decision: "allow"|"deny", scope?: Scope, rule?: RuleSpec, reason?: string }
---@param arguments? string JSON text that runs in place of what was shown
---@param done? fun(problem: cellgate.RpcError?)
local function respond(items, answer, arguments, done)
  local ids = vim.tbl_map(function(item)
    return item.approval.approvalId
  end, items)
  local params = vim.tbl_extend("force", { approvalIds = ids }, answer)
  items[1].session:request(
    "approval/respond",
    arguments and rpc.with_member(params, "arguments", arguments) or params,
    done
      or function(problem)
        if problem then
          session.notify(session.describe(problem), vim.log.levels.WARN)
        end
      end
  )
end

--- Allows what one choice of all these approvals says.
---@param items cellgate.Waiting[]
---@param choice Choice
---@param needed integer[] numbers of the choices that have to have been shown
---@param since? number when what the person looks at was drawn
---@return string? problem why not
function M.allow(items, choice, needed, since)
  local problem = M.not_yet(items, needed, since)
  if not problem then
    respond(items, { decision = "allow", scope = choice.scope, rule = choice.rule })
  end
  return problem
end

---@param items cellgate.Waiting[]
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
---@param item cellgate.Waiting
---@param arguments string
---@param since? number when the arguments were opened
---@param done fun(problem: cellgate.RpcError?)
---@return string? problem why not
function M.allow_edited(item, arguments, since, done)
  local problem = M.not_yet({ item }, {}, since)
  if not problem then
    respond({ item }, { decision = "allow", scope = "once" }, arguments, done)
  end
  return problem
end

--- Why this would be allowed, asked or denied.
---@param item cellgate.Waiting
function M.explain(item)
  local approval = item.approval
  local json_text = require("cellgate.json_text")
  -- The action as it came: its arguments are the bytes that are asked about.
  local action = json_text.at(item.body, { "params", "action" }) --[[@as string]]
  local more = { sessionId = approval.sessionId, executionId = approval.executionId }
  local params = next(more) and rpc.with_member(more, "action", action) or ('{"action":%s}'):format(action)
  item.session:request("policy/explain", params, function(problem, result)
    session.notify(problem and session.describe(problem) or ("%s: %s"):format(result.effect, result.reason))
  end)
end

-- --- by tag

---@param tag string
---@return cellgate.Waiting?
function M.by_tag(tag)
  for _, item in ipairs(session.waiting()) do
    if item.tag == (tag:gsub("^#", "")) then
      return item
    end
  end
end

-- What needs no words of its own: the call that was shown, and no rule.
local function is_this_call(choice)
  return choice.scope == "once" and not choice.rule
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
  local problem = M.allow({ item }, choice, is_this_call(choice) and {} or { number }, set_changed_at)
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
