-- What is done for a file that was opened: keys, completion, and its output of before, if its workspace's sidecar
-- still runs.
local config = require("cellgate.config")

local M = {}

local looked_at = {}

-- Whether a workspace has a sidecar; asking never starts one.
local function when_it_runs(root, done)
  local program = require("cellgate.program").find()
  if not program then
    return
  end
  vim.system(
    { program, "status", "--root", root },
    {},
    vim.schedule_wrap(function(result)
      if result.code == 0 then
        done()
      end
    end)
  )
end

---@param buffer integer
---@param was_read boolean from its file; else its filetype was set
function M.look(buffer, was_read)
  if not vim.api.nvim_buf_is_loaded(buffer) or not require("cellgate.cells").has_any(buffer) then
    return
  end
  require("cellgate.keys").set(buffer)
  if vim.bo[buffer].omnifunc == "" then
    vim.bo[buffer].omnifunc = "v:lua.require'cellgate.complete'.omnifunc"
  end
  if not config.values.reattach or vim.api.nvim_buf_get_name(buffer) == "" then
    return
  end
  local root = require("cellgate.workspace").root(buffer)
  local session = package.loaded["cellgate.session"]
  if session and session.all[root] then
    if was_read then
      require("cellgate.render").restore(buffer)
    end
  elseif not looked_at[root] then
    looked_at[root] = true
    when_it_runs(root, function()
      require("cellgate").start()
      require("cellgate.session").of(root)
    end)
  end
end

return M
