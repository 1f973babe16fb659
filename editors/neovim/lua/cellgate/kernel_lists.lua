-- `kernel_lists` is the lists of executions, of kernels, and of a kernel's variables.
local limits = require("cellgate.limits")
local list_window = require("cellgate.list_window")
local session = require("cellgate.session")

local M = {}

---@param root string
function M.executions(root)
  local here = session.of(root)
  list_window.open({
    name = "executions",
    root = root,
    cut = true,
    events = { "CellgateExecution" },
    read = function(done)
      local rows = {}
      for i = #here.order, 1, -1 do
        local execution = here.executions[here.order[i]]
        local words, group = require("cellgate.execution_state").describe(execution)
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
          list_window.show_text(
            { name = "code/" .. execution.id, root = root, session = execution.session },
            execution.code or ""
          )
        end,
      },
      X = {
        does = "cancel",
        act = function(execution, refresh)
          here:request("execute/cancel", { executionId = execution.id }, list_window.or_tell(refresh))
        end,
      },
    },
  })
end

--- What the code of a session has in its variables.
---@param root string
---@param session_id string
function M.variables(root, session_id)
  local here = session.of(root)
  list_window.open({
    name = "variables",
    root = root,
    session = session_id,
    events = { "CellgateExecution" },
    read = list_window.by_request(here, "kernel/variables", { sessionId = session_id }, function(result)
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

---@param stats SessionStats|SpareKernelStats
local function usage_words(stats)
  return {
    ("%.1f s of processor time"):format(stats.processorSeconds),
    limits.bytes_words(stats.memoryBytes),
    ("%d process%s"):format(stats.processes, stats.processes == 1 and "" or "es"),
  }
end

---@param info SessionInfo
local function place_words(info)
  local kernel = info.kernel
  return kernel.server and "on " .. kernel.server or kernel.connectionFile and "already ran" or nil
end

-- A session, and what it uses now.
---@param stats SessionStats
---@param place string? where its kernel is
local function session_words(stats, place)
  local words = { ("session %s: %s"):format(stats.sessionId, stats.status) }
  words[#words + 1] = place
  if stats.agent then
    words[#words + 1] = "agent " .. stats.agent
  end
  if stats.queueLength > 0 then
    words[#words + 1] = ("%d waiting"):format(stats.queueLength)
  end
  if stats.processorSeconds then
    vim.list_extend(words, usage_words(stats))
  end
  return table.concat(words, ", ")
end

---@param stats StatsResult
---@param sessions SessionInfo[]
---@return cellgate.ListRow[]
local function rows_of_running(stats, sessions)
  local places, rows = {}, {}
  for _, info in ipairs(sessions) do
    places[info.sessionId] = place_words(info)
  end
  for _, each in ipairs(stats.sessions) do
    rows[#rows + 1] = { text = session_words(each, places[each.sessionId]), id = each.sessionId, group = "Title" }
  end
  if stats.spareKernel then
    local words = table.concat(usage_words(stats.spareKernel), ", ")
    rows[#rows + 1] = { text = "kept ready for the next session: " .. words, id = "spare", group = "Comment" }
  end
  return rows
end

---@param kernel KernelInfo
local function kernel_row(kernel)
  return {
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

-- Those of a Jupyter server.
---@param here cellgate.Session
---@param root string
---@param url string
local function kernels_of_server(here, root, url)
  list_window.open({
    name = "kernels/" .. url:gsub("[^%w.:-]", "_"),
    root = root,
    events = {},
    read = list_window.by_request(here, "kernel/list", { server = { url = url } }, function(result)
      return vim.tbl_map(kernel_row, result.kernels)
    end),
    keys = {},
  })
end

---@param root string
---@param url string? of a Jupyter server
function M.kernels(root, url)
  local here = session.of(root)
  if url then
    return kernels_of_server(here, root, url)
  end
  list_window.open({
    name = "kernels",
    root = root,
    events = { "CellgateKernel" },
    read = list_window.by_requests(here, { "stats", "session/list", "kernel/list" }, function(stats, sessions, kernels)
      return vim.list_extend(rows_of_running(stats, sessions.sessions), vim.tbl_map(kernel_row, kernels.kernels))
    end),
    keys = {},
  })
end

return M
