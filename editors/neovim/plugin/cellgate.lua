-- `plugin/cellgate.lua` is what Neovim loads at its start: the command, the <Plug> maps, and a look at each file that
-- is read. Everything else is loaded when it is first needed.
if vim.g.loaded_cellgate then
  return
end
vim.g.loaded_cellgate = true

if not require("cellgate.compat").is_supported() then
  vim.notify(
    "cellgate: this Neovim is too old; " .. require("cellgate.compat").oldest .. " or newer is needed",
    vim.log.levels.WARN
  )
  return
end

vim.api.nvim_create_user_command("Cellgate", function(command)
  require("cellgate").start()
  require("cellgate.commands").run(command)
end, {
  nargs = "+",
  bang = true,
  range = true,
  desc = "cells in a sandboxed kernel, and answers to what they ask",
  complete = function(lead, line)
    return require("cellgate.commands").complete(lead, line)
  end,
})

require("cellgate.keys").define()

local group = vim.api.nvim_create_augroup("cellgate", {})

---@param events string[]
---@param act fun(open_files: table, event: table)
local function on(events, act)
  vim.api.nvim_create_autocmd(events, {
    group = group,
    callback = function(event)
      if vim.bo[event.buf].buftype == "" then
        act(require("cellgate.open_files"), event)
      end
    end,
  })
end

on({ "BufReadPost", "FileType", "BufWritePost" }, function(open_files, event)
  open_files.look(event.buf, event.event == "BufReadPost")
end)
on({ "InsertLeave", "TextChanged" }, function(open_files, event)
  open_files.typed(event.buf)
end)
on({ "BufUnload" }, function(open_files, event)
  open_files.forget(event.buf)
end)
vim.api.nvim_create_autocmd("FocusGained", {
  group = group,
  callback = function()
    require("cellgate.open_files").look_for_sidecars()
  end,
})
