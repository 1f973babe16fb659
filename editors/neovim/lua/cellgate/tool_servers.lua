-- `tool_servers` is the list of tool servers, and writes their wrappers.
local list_window = require("cellgate.list_window")
local notify = require("cellgate.notify")
local session = require("cellgate.session")

local M = {}

--- Writes the wrappers of a tool server, telling its progress.
---@param root string
---@param server string
---@param done? fun()
function M.generate(root, server, done)
  session.of(root):request(
    "wrappers/generate",
    { server = server, workDoneToken = "generate-" .. server },
    list_window.or_tell(function(result)
      local words = ("%s has %d modules"):format(result.package, #result.modules)
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

---@param root string
function M.list(root)
  local here = session.of(root)
  list_window.open({
    name = "servers",
    root = root,
    read = list_window.by_request(here, "toolServers/list", {}, function(result)
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
          here:request("toolServers/restart", { server = name }, list_window.or_tell(refresh))
        end,
      },
      L = {
        does = "its log",
        act = function(name)
          here:request(
            "toolServers/log",
            { server = name },
            list_window.or_tell(function(result)
              local words = result.text ~= "" and result.text or "It has written nothing to stderr."
              list_window.show_text({ name = "log/" .. name, root = root }, words)
            end)
          )
        end,
      },
    },
  })
end

return M
