-- `tool_servers` is the list of tool servers, and writes their wrappers.
local list_window = require("cellgate.list_window")
local logins = require("cellgate.logins")
local notify = require("cellgate.notify")
local session = require("cellgate.session")
local text = require("cellgate.text")

local M = {}

-- Of the wrappers that code in this buffer can import.
local function language_here()
  local is_script = vim.tbl_contains({ "typescript", "javascript" }, vim.bo.filetype)
  return is_script and "typescript" or "python"
end

--- Writes the wrappers of a tool server, telling its progress.
---@param root string
---@param server string
---@param done? fun()
---@param language? WrapperLanguage that of the buffer if nil
function M.generate(root, server, done, language)
  session.of(root):request(
    "wrappers/generate",
    { server = server, language = language or language_here(), workDoneToken = "generate-" .. server },
    list_window.or_tell(function(result)
      local count = #result.modules
      local words = ("%s has %d module%s"):format(result.package, count, count == 1 and "" or "s")
      for _, skipped in ipairs(result.skipped) do
        words = words .. ("; left out %s: %s"):format(skipped.tool, skipped.reason)
      end
      notify.show(words)
      if done then
        done()
      end
    end)
  )
end

--- Writes Python's wrappers of the server whose package it is; the user chooses it where none or several fit.
---@param root string
---@param package string as code imports it: mcptools.{server}, with _ for what is no part of a name
function M.generate_package(root, package)
  session.of(root):request(
    "toolServers/list",
    {},
    list_window.or_tell(function(result)
      local fitting = vim.tbl_filter(function(server)
        return "mcptools." .. server.name:gsub("[^%w_]", "_"):lower() == package:lower()
      end, result.servers)
      if #fitting == 1 then
        M.generate(root, fitting[1].name, nil, "python")
        return
      end
      local options = {
        prompt = "write the wrappers of which tool server?",
        format_item = function(server)
          return text.visible(server.name)
        end,
      }
      vim.ui.select(#fitting > 0 and fitting or result.servers, options, function(chosen)
        if chosen then
          M.generate(root, chosen.name, nil, "python")
        end
      end)
    end)
  )
end

-- The functions of Python that the code defines at its top level, in its order.
---@param code string
---@return string[]
local function functions_of(code)
  local found = {}
  for line in vim.gsplit(code, "\n") do
    local name = line:match("^def%s+(%a[%w_]*)") or line:match("^async%s+def%s+(%a[%w_]*)")
    if name and not vim.list_contains(found, name) then
      found[#found + 1] = name
    end
  end
  return found
end

-- The user sees all of it in the approval.
---@param here cellgate.Session
---@param id string of the execution
---@param code string
---@param name string of the function
local function save_function(here, id, code, name)
  here:request(
    "tools/call",
    { server = "host", tool = "save_tool", arguments = { name = name, code = code, rulesOf = { id } } },
    list_window.or_tell(function(result)
      if result.isError then
        notify.show(result.content[1] and result.content[1].text or "", vim.log.levels.ERROR)
      else -- the answer's own words are longer than a row
        notify.show(("saved %s; to import it: :Cellgate generate saved"):format(name))
      end
    end)
  )
end

--- Saves a function of what ran as a tool of the server `saved`, with rules for what the code was allowed. Both are
--- from the record, so another sidecar may have run it, long ago.
---@param root string workspace
---@param id string of the execution
---@param name? string of the function; without it the user chooses one, where there are several
function M.save(root, id, name)
  local here = session.of(root)
  here:request(
    "record/query",
    { executionId = id, types = { "execution.started" }, limit = 1 },
    list_window.or_tell(function(started)
      local code = started.entries[1] and started.entries[1].data.code
      if not code then
        notify.show("the record does not have this code", vim.log.levels.WARN)
        return
      end
      local names = name and { name } or functions_of(code)
      if #names == 0 then
        notify.show("this code defines no function of Python", vim.log.levels.WARN)
      elseif #names == 1 then
        save_function(here, id, code, names[1])
      else
        vim.ui.select(names, { prompt = "save which function as a tool?" }, function(chosen)
          if chosen then
            save_function(here, id, code, chosen)
          end
        end)
      end
    end)
  )
end

-- What the user has to know or to do before it can be used, in words.
---@param server ToolServerInfo
local function still_needed(here, server)
  if server.state == "pending" then
    return ", waits for your agreement: R asks for it", "DiagnosticWarn"
  elseif here.logins[server.name] then
    return (", waits for the login at %s"):format(here.logins[server.name].host), "DiagnosticWarn"
  elseif server.authorization == "needed" then
    return ", needs a login: I logs in", "DiagnosticWarn"
  end
  return server.authorization == "granted" and ", logged in" or ""
end

---@param here cellgate.Session
---@param server ToolServerInfo
---@return cellgate.ListRow[]
local function rows_of(here, server)
  local from = server.file and ("from " .. server.file) or server.source
  local needed, group = still_needed(here, server)
  local rows = {
    {
      text = ("%s  %s%s  (%s)"):format(server.name, server.state, needed, from),
      value = server.name,
      id = server.name,
      group = server.state == "failed" and "DiagnosticError" or group,
    },
  }
  local reached_by = server.command and table.concat(server.command, " ") or server.url
  if reached_by then
    rows[#rows + 1] = { text = "    " .. reached_by, group = "Comment" }
  end
  for _, line in ipairs(server.error and vim.split(server.error, "\n") or {}) do
    rows[#rows + 1] = { text = "    " .. line, group = "DiagnosticError" }
  end
  for _, tool in ipairs(server.tools or {}) do
    rows[#rows + 1] = { text = "    " .. tool.name }
  end
  return rows
end

---@param here cellgate.Session
local function show_log(here, name)
  here:request(
    "toolServers/log",
    { server = name },
    list_window.or_tell(function(result)
      local words = result.text ~= "" and result.text or "It has written nothing to stderr."
      list_window.show_text({ name = "log/" .. name, root = here.root }, words)
    end)
  )
end

---@param root string
function M.list(root)
  local here = session.of(root)
  list_window.open({
    name = "servers",
    root = root,
    events = { "CellgateLogin" },
    read = list_window.by_request(here, "toolServers/list", {}, function(result)
      local rows = {}
      for _, server in ipairs(result.servers) do
        vim.list_extend(rows, rows_of(here, server))
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
          here:request("toolServers/restart", { server = name }, list_window.or_tell(refresh))
        end,
      },
      I = {
        does = "log in",
        act = function(name)
          logins.login(root, name)
        end,
      },
      O = {
        does = "log out",
        act = function(name, refresh)
          logins.logout(root, name, refresh)
        end,
      },
      L = {
        does = "its log",
        act = function(name)
          show_log(here, name)
        end,
      },
    },
  })
end

return M
