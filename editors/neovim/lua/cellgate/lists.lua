-- Windows with lists: rules, decisions, tool servers, executions, kernels, variables. Each row may have an id that a
-- key acts on; acting reads the list again.
local events = require("cellgate.events")
local scratch = require("cellgate.scratch")
local session = require("cellgate.session")
local text = require("cellgate.text")

local M = {}

---@class cellgate.ListRow
---@field text string
---@field group? string highlight
---@field value? any what a key acts on
---@field id? string by which the row is known when the list is read again

---@class cellgate.List
---@field name string
---@field root string workspace
---@field session? string kernel
---@field read fun(done: fun(problem: string?, rows: cellgate.ListRow[]?))
---@field keys table<string, { does: string, act: fun(value: any, refresh: fun()) }>
---@field events? string[] after which it is read again

---@type table<integer, { events: string[], refresh: fun() }> by buffer
local watching = {}

for _, name in ipairs({ "CellgateExecution", "CellgateKernel", "CellgateApproval" }) do
  events.on(name, function()
    for _, each in pairs(watching) do
      if vim.list_contains(each.events, name) then
        each.refresh()
      end
    end
  end)
end

local namespace = vim.api.nvim_create_namespace("cellgate.lists")

local function identity(row)
  return row.id or row.text
end

-- Puts rows into the buffer. Each window's cursor stays at the row that it was at. Where that row has gone it goes to
-- the top, so that a key does not act on the row that came into its place.
local function fill(buffer, old, new)
  local was = {}
  for _, window in ipairs(vim.fn.win_findbuf(buffer)) do
    was[window] = old[vim.api.nvim_win_get_cursor(window)[1]]
  end
  vim.bo[buffer].modifiable = true
  vim.api.nvim_buf_clear_namespace(buffer, namespace, 0, -1)
  vim.api.nvim_buf_set_lines(
    buffer,
    0,
    -1,
    false,
    vim.tbl_map(function(row)
      return text.visible(row.text)
    end, new)
  )
  vim.bo[buffer].modifiable = false
  vim.bo[buffer].modified = false
  for i, row in ipairs(new) do
    if row.group then
      vim.api.nvim_buf_set_extmark(buffer, namespace, i - 1, 0, { line_hl_group = row.group })
    end
  end
  for window, row in pairs(was) do
    local line = 1
    for i, each in ipairs(new) do
      line = identity(each) == identity(row) and i or line
    end
    vim.api.nvim_win_set_cursor(window, { line, vim.api.nvim_win_get_cursor(window)[2] })
  end
end

---@param list cellgate.List
local function open(list)
  local buffer, trouble =
    scratch.open({ name = list.name, filetype = "cellgate-list", root = list.root, session = list.session })
  if not buffer then
    session.notify(trouble --[[@as string]], vim.log.levels.WARN)
    return
  end
  local rows = {} ---@type cellgate.ListRow[]
  local function refresh()
    list.read(function(problem, found)
      if not vim.api.nvim_buf_is_valid(buffer) then
        return
      end
      local old = rows
      rows = { { text = "", group = "Comment" } }
      local keys = {}
      for key, what in vim.spairs(list.keys) do
        keys[#keys + 1] = key .. " " .. what.does
      end
      keys[#keys + 1] = "q close"
      rows[1].text = table.concat(keys, "   ")
      vim.list_extend(rows, problem and { { text = problem, group = "DiagnosticError" } } or found)
      if #rows == 1 then
        rows[2] = { text = "none" }
      end
      fill(buffer, old, rows)
    end)
  end
  for key, what in pairs(list.keys) do
    vim.keymap.set("n", key, function()
      local row = rows[vim.api.nvim_win_get_cursor(0)[1]]
      if row and row.value ~= nil then
        what.act(row.value, refresh)
      end
    end, { buffer = buffer, nowait = true })
  end
  vim.keymap.set("n", "q", "<Cmd>close<CR>", { buffer = buffer, nowait = true })
  if list.events then
    watching[buffer] = { events = list.events, refresh = refresh }
    vim.api.nvim_create_autocmd("BufWipeout", {
      buffer = buffer,
      callback = function()
        watching[buffer] = nil
      end,
    })
  end
  refresh()
end

-- Tells the problem of an answer, or goes on.
local function or_tell(next_step)
  return function(problem, result)
    if problem then
      session.notify(session.describe(problem), vim.log.levels.ERROR)
    else
      next_step(result)
    end
  end
end

-- Reads a list by a request: what its rows are follows from the answer.
local function by_request(here, method, params, rows_of)
  return function(done)
    here:request(method, params, function(problem, result)
      if problem then
        done(session.describe(problem))
      else
        done(nil, rows_of(result))
      end
    end)
  end
end

-- What came from outside, in a buffer of its own.
---@param what cellgate.Scratch
---@param words string
local function show_text(what, words)
  what.lines = vim.tbl_map(function(line)
    return text.visible(line)
  end, vim.split(words, "\n", { plain = true }))
  local _, problem = scratch.open(what)
  if problem then
    session.notify(problem, vim.log.levels.WARN)
  end
end

-- --- rules

--- A rule in words, as the command line writes it where it can.
---@param rule Rule
---@return string
function M.rule_words(rule)
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
    person = "from your settings",
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
  open({
    name = "rules",
    root = root,
    read = by_request(here, "policy/list", {}, function(result)
      return vim.tbl_map(function(rule)
        local group = rule.effect == "deny" and "DiagnosticError" or nil
        return { text = M.rule_words(rule), value = rule, id = rule.id, group = group }
      end, result.rules)
    end),
    keys = {
      X = {
        does = "revoke",
        act = function(rule, refresh)
          here:request("policy/remove", { ruleId = rule.id }, or_tell(refresh))
        end,
      },
    },
  })
end

-- --- decisions

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
    person = "by a person" .. (past.rule and ", with a rule" or ""),
    expired = "as nobody answered in time",
    cancelled = "as the call was given up",
    noClient = "as nobody was there to answer",
    elicitation = "at the agent's own program",
  }
  return (past.decision == "allow" and "allowed " or "denied ") .. by[past.by]
end

---@param past PastDecision
local function decision_words(past)
  local words = vim.list_extend({}, past.display)
  if past.edited then
    words[#words + 1] = "(a person changed the arguments)"
  end
  if not past.action then
    words[#words + 1] = "(its payload was too large to keep)"
  end
  vim.list_extend(words, { "", ("%s, %s: %s"):format(past.decidedAt, decided_by(past), past.reason) })
  if past.rule then
    words[#words + 1] = "rule: " .. M.rule_words(past.rule)
  end
  if past.agent then
    words[#words + 1] = "by agent " .. past.agent
  end
  if past.origin then
    words[#words + 1] = ("line %d, reported by the code: %s"):format(past.origin.line + 1, past.origin.text)
  end
  return table.concat(vim.tbl_map(text.visible, words), "\n")
end

--- What was decided lately, also what a rule let through without a question.
---@param root string
function M.decisions(root)
  local here = session.of(root)
  open({
    name = "decisions",
    root = root,
    events = { "CellgateExecution", "CellgateApproval" },
    read = by_request(here, "policy/decisions", {}, function(result)
      local rows = {}
      for _, past in ipairs(result.decisions) do
        rows[#rows + 1] = {
          text = ("%s  %s  %s"):format(clock_time(past.decidedAt), past.display[1], decided_by(past)),
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
          show_text({ name = "decision", root = root }, decision_words(past))
        end,
      },
    },
  })
end

-- --- tool servers

--- Writes the wrappers of a tool server, telling its progress.
---@param root string
---@param server string
---@param done? fun()
function M.generate(root, server, done)
  session.of(root):request(
    "wrappers/generate",
    { server = server, workDoneToken = "generate-" .. server },
    or_tell(function(result)
      local words = ("%s has %d modules"):format(result.package, #result.modules)
      for _, skipped in ipairs(result.skipped) do
        words = words .. ("; left out %s: %s"):format(skipped.tool, skipped.reason)
      end
      session.notify(words)
      if done then
        done()
      end
    end)
  )
end

---@param root string
function M.servers(root)
  local here = session.of(root)
  open({
    name = "servers",
    root = root,
    read = by_request(here, "toolServers/list", {}, function(result)
      local rows = {}
      for _, server in ipairs(result.servers) do
        local from = server.file and ("from " .. server.file) or server.source
        local agree = server.state == "pending" and ", waits for your agreement: R asks for it" or ""
        rows[#rows + 1] = {
          text = ("%s  %s%s  (%s)"):format(server.name, server.state, agree, from),
          value = server.name,
          id = server.name,
          group = server.state == "failed" and "DiagnosticError"
            or server.state == "pending" and "DiagnosticWarn"
            or nil,
        }
        if server.command then
          rows[#rows + 1] = { text = "    " .. table.concat(server.command, " "), group = "Comment" }
        end
        for _, line in ipairs(server.error and vim.split(server.error, "\n") or {}) do
          rows[#rows + 1] = { text = "    " .. line, group = "DiagnosticError" }
        end
        for _, tool in ipairs(server.tools or {}) do
          rows[#rows + 1] = { text = "    " .. tool.name }
        end
      end
      return rows
    end),
    keys = {
      G = {
        does = "write its wrappers",
        act = function(name, refresh)
          M.generate(root, name, refresh)
        end,
      },
      R = {
        does = "start or restart",
        act = function(name, refresh)
          here:request("toolServers/restart", { server = name }, or_tell(refresh))
        end,
      },
      L = {
        does = "its log",
        act = function(name)
          here:request(
            "toolServers/log",
            { server = name },
            or_tell(function(result)
              local words = result.text ~= "" and result.text or "It has written nothing to stderr."
              show_text({ name = "log/" .. name, root = root }, words)
            end)
          )
        end,
      },
    },
  })
end

-- --- executions

---@param root string
function M.executions(root)
  local here = session.of(root)
  open({
    name = "executions",
    root = root,
    events = { "CellgateExecution" },
    read = function(done)
      local rows = {}
      for i = #here.order, 1, -1 do
        local execution = here.executions[here.order[i]]
        local words, group = require("cellgate.render").state_words(execution)
        local first_line = vim.trim(execution.code or ""):match("^[^\n]*")
        rows[#rows + 1] =
          { text = ("%s  %s"):format(words, first_line), group = group, value = execution, id = execution.id }
      end
      done(nil, rows)
    end,
    keys = {
      ["<CR>"] = {
        does = "its output",
        act = function(execution)
          require("cellgate.output_window").open(execution)
        end,
      },
      C = {
        does = "its code",
        act = function(execution)
          show_text({ name = "code/" .. execution.id, root = root, session = execution.session }, execution.code or "")
        end,
      },
      X = {
        does = "cancel",
        act = function(execution, refresh)
          here:request("execute/cancel", { executionId = execution.id }, or_tell(refresh))
        end,
      },
    },
  })
end

-- --- kernels

--- What the code of a session has in its variables.
---@param root string
---@param session_id string
function M.variables(root, session_id)
  local here = session.of(root)
  open({
    name = "variables",
    root = root,
    session = session_id,
    events = { "CellgateExecution" },
    read = by_request(here, "kernel/variables", { sessionId = session_id }, function(result)
      local rows = {}
      for _, variable in ipairs(result.variables) do
        local size = variable.size and (" (%s)"):format(variable.size) or ""
        rows[#rows + 1] = {
          text = ("%s  %s%s  %s"):format(variable.name, variable.type, size, variable.value),
          id = variable.name,
        }
      end
      if result.truncated then
        rows[#rows + 1] = { text = "… there are more", group = "Comment" }
      end
      return rows
    end),
    keys = {},
  })
end

---@param root string
function M.kernels(root)
  local here = session.of(root)
  open({
    name = "kernels",
    root = root,
    events = { "CellgateKernel" },
    read = by_request(here, "kernel/list", {}, function(result)
      local rows = {}
      for id, status in vim.spairs(here.kernels) do
        rows[#rows + 1] = { text = ("session %s: %s"):format(id, status), id = id, group = "Title" }
      end
      for _, kernel in ipairs(result.kernels) do
        rows[#rows + 1] = {
          text = ("%s  %s, %s%s"):format(
            kernel.name,
            kernel.displayName,
            kernel.language,
            kernel.problem and ": " .. kernel.problem or ""
          ),
          id = "kernel " .. kernel.name,
          group = kernel.problem and "Comment" or nil,
        }
      end
      return rows
    end),
    keys = {},
  })
end

return M
