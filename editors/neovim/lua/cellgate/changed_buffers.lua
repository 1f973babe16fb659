-- `changed_buffers` reads buffers again whose files a cell or an undo has changed, and tells the user when an agent's
-- code did. A buffer with changes that are not saved is left as it is.
local events = require("cellgate.events")
local list_window = require("cellgate.list_window")
local notify = require("cellgate.notify")
local session = require("cellgate.session")

local M = {}

-- The loaded buffers of a workspace, by their paths in it.
local function open_below(root)
  local buffers = {}
  for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
    local name = vim.fs.normalize(vim.api.nvim_buf_get_name(buffer))
    if vim.api.nvim_buf_is_loaded(buffer) and vim.bo[buffer].buftype == "" and vim.startswith(name, root .. "/") then
      buffers[name:sub(#root + 2)] = buffer
    end
  end
  return buffers
end

-- Gives the paths of the files that are open, and whether any has unsaved changes.
local function read_again(root, files)
  local paths, unsaved = {}, false
  local buffers = open_below(root)
  for _, file in ipairs(files) do
    local buffer = buffers[file.path]
    if buffer then
      paths[#paths + 1] = file.path
      if vim.bo[buffer].modified then
        unsaved = true
      elseif file.kind ~= "deleted" then
        vim.cmd("silent! checktime " .. buffer)
      end
    end
  end
  return paths, unsaved
end

M.burst_ms = 1000 -- edits of an agent that come within it are one message

---@type table<string, { edits: integer, paths: string[], unsaved: boolean }> by agent
local bursts = {}

local function tell(agent)
  local burst = bursts[agent]
  bursts[agent] = nil
  local times = burst.edits > 1 and (" in %d edits"):format(burst.edits) or ""
  local kept = burst.unsaved and "; unsaved lines stay" or ""
  notify.show(("%s changed %s%s%s: :Cellgate! changes"):format(agent, table.concat(burst.paths, ", "), times, kept))
end

local function add_edit(agent, paths, unsaved)
  local burst = bursts[agent]
  if not burst then
    burst = { edits = 0, paths = {}, unsaved = false }
    bursts[agent] = burst
    vim.defer_fn(function()
      tell(agent)
    end, M.burst_ms)
  end
  burst.edits, burst.unsaved = burst.edits + 1, burst.unsaved or unsaved
  for _, path in ipairs(paths) do
    if not vim.list_contains(burst.paths, path) then
      table.insert(burst.paths, path)
    end
  end
end

function M.setup()
  events.on("CellgateChanges", function(data)
    local root = data.root
    local here = session.all[root] -- of() would connect one that has stopped
    local found = here and data.execution and here:changes_of(data.execution)
    if not found or not next(open_below(root)) then
      return
    end
    local told = list_window.or_tell(function(list)
      local paths, unsaved = read_again(root, list.files)
      if found.agent and not found.undoOf and #paths > 0 then
        add_edit(found.agent, paths, unsaved)
      end
    end)
    here:request("changes/list", { executionId = data.execution }, told)
  end)
end

return M
