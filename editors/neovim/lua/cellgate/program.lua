-- `program` finds the program cellgate.
local M = {}

-- The plugin may be a link in a folder of packages.
local here = vim.fn.fnamemodify(debug.getinfo(1, "S").source:sub(2), ":p")
local repository = vim.fn.fnamemodify(vim.uv.fs_realpath(here) or here, ":h:h:h:h:h")

---@return string? path
---@return string? problem
function M.find()
  local wanted = require("cellgate.config").values.program
  if wanted then
    local path = vim.fn.exepath(vim.fn.expand(wanted))
    if path == "" then
      return nil, ("the setting program names %s, which is no program"):format(wanted)
    end
    return path
  end
  local on_path = vim.fn.exepath("cellgate")
  if on_path ~= "" then
    return on_path
  end
  local built = vim.fs.joinpath(repository, "build", "cellgate")
  if vim.fn.executable(built) == 1 then
    return built
  end
  return nil,
    "there is no program cellgate: not on PATH, and not in "
      .. built
      .. ". Build it with ./dev build there, or name it: require('cellgate').setup({ program = … })"
end

return M
