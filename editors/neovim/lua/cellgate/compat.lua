-- `compat` is the one module that knows the differences between versions of Neovim.
local M = {}

--- The oldest Neovim that the plugin runs in.
M.oldest = "0.10"

function M.is_supported()
  return vim.fn.has("nvim-" .. M.oldest) == 1
end

--- Bytes for the terminal itself: of the user's screen, not of a pipe.
---@param bytes string
function M.write_to_terminal(bytes)
  if vim.api.nvim_ui_send then
    vim.api.nvim_ui_send(bytes)
  else
    io.stdout:write(bytes)
    io.stdout:flush()
  end
end

--- What the terminal answered.
---@param event table of TermResponse
---@return string
function M.term_response(event)
  local data = event.data
  return type(data) == "table" and data.sequence or data or ""
end

return M
