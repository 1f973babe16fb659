-- `installs` has the sidecar install packages for the workspace's kernels, and tells how it goes. The sidecar asks the
-- user first, and shows the exact command.
local at_cursor = require("cellgate.at_cursor")
local cells = require("cellgate.cells")
local log = require("cellgate.log")
local notify = require("cellgate.notify")
local rpc = require("cellgate.rpc")
local session = require("cellgate.session")
local workspace = require("cellgate.workspace")

local M = {}

---@type table<string, { peer: cellgate.Peer, id: integer }[]> of each workspace, those that wait or run
local under_way = {}
local count = 0

---@param result PackagesInstallResult
local function tell(result)
  if result.status == "failed" then
    log.write("error", result.output)
    local words = ("nothing was installed: %s; :Cellgate log has the output"):format(result.reason or "")
    notify.show(words, vim.log.levels.ERROR)
    return
  end
  local names = vim.tbl_map(function(package)
    return package.name .. " " .. package.version
  end, result.installed)
  notify.show("installed: " .. table.concat(names, ", "))
end

---@param root string
---@param packages string[] as pip names them, or npm:NAME
---@param session_id? string whose interpreter, of Python packages; default: the workspace's
function M.install(root, packages, session_id)
  count = count + 1
  local params = { packages = packages, sessionId = session_id, workDoneToken = "install-" .. count }
  session.of(root).connection:ready(function(problem, peer)
    if not peer then
      notify.show(problem, vim.log.levels.ERROR)
      return
    end
    local here = under_way[root] or {}
    under_way[root] = here
    local entry = { peer = peer }
    here[#here + 1] = entry
    entry.id = peer:request("packages/install", params, function(refused, result)
      under_way[root] = vim.tbl_filter(function(each)
        return each ~= entry
      end, under_way[root])
      if refused then
        notify.show(rpc.describe(refused), vim.log.levels.ERROR)
      else
        tell(result)
      end
    end)
  end)
end

--- Cancels what is installed in a workspace.
---@param root string
---@return string? problem
function M.cancel(root)
  local here = under_way[root] or {}
  if #here == 0 then
    return "nothing is installed at the moment"
  end
  for _, entry in ipairs(here) do
    entry.peer:cancel(entry.id)
  end
end

-- The kernel of the cell at the cursor, if it runs and is Python's.
local function python_here()
  local buffer, kernel = at_cursor.buffer(), at_cursor.kernel()
  local status = at_cursor.session().kernels[kernel]
  local is_python = workspace.language(buffer, cells.at(buffer, at_cursor.row())) == "python"
  return is_python and status and status ~= "dead" and kernel or nil
end

---@type cellgate.Command
M.command = {
  does = "Installs packages for the kernels of the workspace, after you have agreed to the command: of Python, as pip"
    .. " names them, or of npm for TypeScript: `:Cellgate install npm:lodash`. `:Cellgate! install` cancels that.",
  arguments = "{package ...}",
  act = function(arguments, command)
    local root = workspace.root(at_cursor.buffer())
    if command.bang then
      return M.cancel(root)
    elseif not arguments[1] then
      return "which packages? For example :Cellgate install pandas"
    end
    M.install(root, arguments, python_here())
  end,
}

return M
