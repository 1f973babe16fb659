-- `scratch` is the plugin's own buffers below the current window: lists, output, code, arguments. Each knows the
-- workspace and the kernel that it shows, so a command that is typed there acts on these.
local notify = require("cellgate.notify")

local M = {}

---@class cellgate.Scratch
---@field name string after cellgate://
---@field filetype? string
---@field buftype? "nofile"|"acwrite"
---@field root? string workspace that it shows
---@field session? string kernel that it shows
---@field lines? string[] its text

---@param name string after cellgate://
---@return integer? buffer
function M.find(name)
  for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_get_name(buffer) == "cellgate://" .. name then
      return buffer
    end
  end
end

--- Whether it shows the plugin's own words or what came from outside, be it below or before the other windows.
---@param buffer integer
---@return boolean
function M.is_own(buffer)
  return vim.startswith(vim.api.nvim_buf_get_name(buffer), "cellgate://")
    or vim.startswith(vim.bo[buffer].filetype, "cellgate-")
end

--- Goes to a window that shows a file; where there is none, makes one.
function M.enter_file_window()
  local windows = { vim.fn.win_getid(vim.fn.winnr("#")) }
  vim.list_extend(windows, vim.api.nvim_tabpage_list_wins(0))
  for _, window in ipairs(windows) do
    local is_float = window ~= 0 and vim.api.nvim_win_get_config(window).relative ~= ""
    if window ~= 0 and not is_float and not M.is_own(vim.api.nvim_win_get_buf(window)) then
      vim.api.nvim_set_current_win(window)
      return
    end
  end
  vim.cmd("aboveleft split")
end

local function show(buffer)
  local window = vim.fn.bufwinid(buffer)
  if window ~= -1 then
    vim.api.nvim_set_current_win(window)
  else
    vim.api.nvim_open_win(buffer, true, { split = "below", win = 0 })
  end
end

--- Opens it, or goes to it where it is open.
---@param what cellgate.Scratch
---@return integer? buffer
---@return string? problem
function M.open(what)
  if vim.fn.getcmdwintype() ~= "" then
    return nil, "leave the command-line window first, by :q"
  end
  local old = M.find(what.name)
  local buffer = old or vim.api.nvim_create_buf(false, true)
  local good, problem = pcall(function()
    if not old then
      vim.api.nvim_buf_set_name(buffer, "cellgate://" .. what.name)
    end
    -- Of an old one as well: a saved session of Neovim comes back with an ordinary file of the name.
    for option, value in pairs({
      buftype = what.buftype or "nofile",
      bufhidden = "wipe",
      buflisted = false,
      swapfile = false,
      undofile = false,
    }) do
      vim.bo[buffer][option] = value
    end
    vim.b[buffer].cellgate_root, vim.b[buffer].cellgate_session = what.root, what.session
    show(buffer)
    if what.lines then
      vim.bo[buffer].modifiable = true
      vim.api.nvim_buf_set_lines(buffer, 0, -1, false, what.lines)
      vim.bo[buffer].modified = false
    end
  end)
  if not good then
    -- Also what `show` may have opened: a window closes with its buffer.
    pcall(vim.api.nvim_buf_delete, buffer, { force = true })
    return nil, (tostring(problem):gsub("^.-(E%d+:)", "%1"))
  end
  -- An error in the user's settings for a filetype is no reason to show nothing.
  local fine, trouble = pcall(function()
    vim.bo[buffer].filetype = what.filetype or ""
  end)
  if not fine then
    notify.show(tostring(trouble), vim.log.levels.WARN)
  end
  return buffer
end

return M
