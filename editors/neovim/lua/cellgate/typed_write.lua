-- `typed_write` knows whether a buffer is written by a command that the user typed there, for all of it and to nowhere
-- else. An autocommand or a plugin that saves files by itself, `:wall` from another window, or `:w copy.json` is no
-- answer of the user.
local M = {}

-- Whether the command line that was left a moment ago is such a command.
local typed = false

local function record()
  if vim.fn.getcmdtype() ~= ":" or vim.v.event.abort then
    return
  end
  local good, command = pcall(vim.api.nvim_parse_cmd, vim.fn.getcmdline(), {})
  if
    good
    and vim.tbl_contains({ "write", "wq", "xit", "exit", "update" }, command.cmd)
    and #command.args == 0
    and #(command.range or {}) == 0
  then
    typed = true
    vim.schedule(function()
      typed = false
    end)
  end
end

--- Calls `write` when the buffer is to be written: with the reason, where that is no such command.
---@param buffer integer
---@param write fun(problem: string?)
function M.on(buffer, write)
  vim.api.nvim_create_autocmd("CmdlineLeave", { buffer = buffer, callback = record })
  vim.api.nvim_create_autocmd("BufWriteCmd", {
    buffer = buffer,
    callback = function(event)
      if typed and event.match == vim.api.nvim_buf_get_name(buffer) then
        write()
      else
        write("only :w, typed here and without a name, answers")
      end
    end,
  })
end

return M
