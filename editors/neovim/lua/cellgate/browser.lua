-- `browser` opens what the user wants to see in their browser.
local config = require("cellgate.config")

local M = {}

--- Opens a file of ours.
---@param path string
---@return string? problem
function M.open(path)
  if config.values.open then
    config.values.open(path)
    return
  end
  local _, complaint = vim.ui.open(path)
  if complaint then
    return ("%s is the page; nothing here opens it: %s"):format(path, complaint)
  end
end

--- Opens a page whose URL came from outside: of the web, and nothing else, as the system would open files and start
--- programs as well.
---@param url string
---@return string? problem
function M.open_page(url)
  if not url:find("^https?://") then
    return ("%s is no page of the web: it is not opened"):format(url)
  end
  return M.open(url)
end

--- Copies a URL into the register from which `p` puts, and into the system's clipboard where there is one.
---@param url string
---@return string register that has it for other programs, or for `p`
function M.copy(url)
  vim.fn.setreg('"', url)
  if vim.fn.has("clipboard") == 0 then
    return '"'
  end
  vim.fn.setreg("+", url)
  return "+"
end

return M
