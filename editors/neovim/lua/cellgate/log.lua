-- `log` is the plugin's own log: one file of bounded size, for what the user should be able to look up later.
local M = {}

local limit = 1024 * 1024

function M.path()
  return vim.fs.joinpath(vim.fn.stdpath("log") --[[@as string]], "cellgate.log")
end

---@param level "error"|"warning"|"info"
---@param text string
function M.write(level, text)
  local path = M.path()
  local found = vim.uv.fs_stat(path)
  if found and found.size > limit then
    vim.uv.fs_rename(path, path .. ".1")
  end
  local file = io.open(path, "a")
  if file then
    file:write(os.date("!%Y-%m-%dT%H:%M:%SZ"), " ", level, " ", text, "\n")
    file:close()
  end
end

return M
