-- `changes_diff` shows a changed file as a diff in a tab: before and after, or after and now.
local changes_words = require("cellgate.changes_words")
local list_window = require("cellgate.list_window")
local notify = require("cellgate.notify")
local text = require("cellgate.text")

local M = {}

-- Reads a side of a file; where there was none, it is empty.
local function read(here, id, file, side, done)
  local params = { executionId = id, path = file.path, side = side }
  here:request(
    "changes/read",
    params,
    list_window.or_tell(function(result)
      if result.base64 then
        notify.show(("%s is not text (%s)"):format(file.path, changes_words.versions(file)))
      else
        done(result.text or "")
      end
    end)
  )
end

-- A buffer of a file that cannot be changed, in the current window.
local function fill(here, file, what, words)
  local buffer = vim.api.nvim_create_buf(false, true)
  vim.bo[buffer].bufhidden = "wipe"
  vim.api.nvim_buf_set_name(buffer, ("cellgate://%s/%d/%s"):format(what, buffer, text.visible(file.path)))
  vim.b[buffer].cellgate_root = here.root
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, vim.split(words, "\n", { plain = true }))
  vim.bo[buffer].modifiable = false
  vim.keymap.set("n", "q", "<Cmd>tabclose<CR>", { buffer = buffer, nowait = true })
  vim.api.nvim_win_set_buf(0, buffer)
  -- An error in the user's settings for a filetype is no reason to show nothing.
  pcall(function()
    vim.bo[buffer].filetype = vim.filetype.match({ filename = file.path, buf = buffer }) or ""
  end)
end

local function diff_with(show_other)
  vim.cmd.diffthis()
  vim.cmd("rightbelow vsplit")
  show_other()
  vim.cmd.diffthis()
end

--- What an execution changed in a file.
---@param here cellgate.Session
---@param id string
---@param file ChangedFile
function M.open(here, id, file)
  read(here, id, file, "before", function(before)
    read(here, id, file, "after", function(after)
      vim.cmd("tab split")
      fill(here, file, "before", before)
      diff_with(function()
        fill(here, file, "after", after)
      end)
    end)
  end)
end

--- What was changed in it since.
---@param here cellgate.Session
---@param id string
---@param file ChangedFile
function M.open_since(here, id, file)
  read(here, id, file, "after", function(after)
    vim.cmd("tab split")
    fill(here, file, "after", after)
    diff_with(function()
      local name = here.root .. "/" .. file.path
      if vim.uv.fs_stat(name) then
        vim.cmd.edit(vim.fn.fnameescape(name))
      else
        fill(here, file, "now", "")
      end
    end)
  end)
end

return M
