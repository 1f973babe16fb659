-- `cellgate` is the plugin's interface for the user's settings: `setup` (optional; without it the defaults of
-- config.lua hold), `statusline` and `waiting`.
local M = {}

local started = false

---@type table<integer, string> by buffer: a statusline is drawn too often to look into folders each time
local roots = {}

--- Begins to listen; everything else waits for the first command, or for a file whose workspace has a sidecar.
function M.start()
  if started then
    return
  end
  started = true
  require("cellgate.render").setup()
  require("cellgate.changed_buffers").setup()
  require("cellgate.approval_windows").setup()
  require("cellgate.output_window").setup()
  require("cellgate.check").setup()
  vim.api.nvim_create_autocmd({ "BufEnter", "BufFilePost", "BufWritePost", "BufWipeout", "DirChanged" }, {
    group = vim.api.nvim_create_augroup("cellgate.statusline", {}),
    callback = function()
      roots = {}
    end,
  })
  for _, name in ipairs({ "CellgateConnection", "CellgateKernel", "CellgateApproval", "CellgateElicitation" }) do
    require("cellgate.events").on(name, function()
      vim.cmd.redrawstatus({ bang = true })
    end)
  end
end

--- Takes settings; `:h cellgate-config` lists them.
---@param settings? table
function M.setup(settings)
  require("cellgate.config").set(settings)
  require("cellgate.keys").apply()
end

--- For a statusline: kernel and what waits; empty when this buffer's workspace has no connection.
---@return string
function M.statusline()
  local session = package.loaded["cellgate.session"]
  if not session then
    return ""
  end
  local buffer = vim.api.nvim_get_current_buf()
  roots[buffer] = roots[buffer] or require("cellgate.workspace").root(buffer)
  local here = session.all[roots[buffer]]
  local parts = {}
  if here and here.connection.state == "ready" then
    local statuses = vim.tbl_values(here.kernels)
    table.sort(statuses)
    parts[1] = #statuses > 0 and table.concat(statuses, ",") or "connected"
  elseif here and here.connection.state ~= "stopped" then
    parts[1] = here.connection.state
  end
  local waiting = session.waiting_count()
  if waiting > 0 then
    parts[#parts + 1] = waiting == 1 and "1 waits for you" or waiting .. " wait for you"
  end
  return #parts > 0 and "cellgate: " .. table.concat(parts, ", ") or ""
end

--- How many approvals, and questions of tool servers, wait for an answer.
---@return integer
function M.waiting()
  local session = package.loaded["cellgate.session"]
  return session and session.waiting_count() or 0
end

return M
