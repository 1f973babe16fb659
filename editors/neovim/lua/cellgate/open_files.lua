-- `open_files` prepares each open file with cells: keys, completion, and its earlier output. It connects as soon as the
-- workspace has a sidecar, so that an agent's approvals can be answered here.
local cells = require("cellgate.cells")
local config = require("cellgate.config")

local M = {}

---@type table<integer, boolean> buffers with keys and completion
local prepared = {}

---@type table<string, integer> a buffer of each workspace that has no connection
local watched = {}

---@type uv.uv_fs_event_t?
local watcher

-- Tells whether a workspace has a sidecar; asking never starts one.
local function ask(root, done)
  local program = require("cellgate.program").find()
  if not program then
    return
  end
  vim.system(
    { program, "status", "--root", root },
    {},
    vim.schedule_wrap(function(result)
      done(result.code == 0)
    end)
  )
end

local function session_of(root)
  local session = package.loaded["cellgate.session"]
  return session and session.all[root]
end

-- One that a user left, or that could not start, is theirs to connect.
local function connect_if_it_runs(root, asked)
  ask(root, function(runs)
    if runs and not session_of(root) then
      require("cellgate").start()
      require("cellgate.session").of(root)
    end
    if asked then
      asked()
    end
  end)
end

--- Looks whether a sidecar has been started for a workspace whose files are open.
function M.look_for_sidecars()
  for root, buffer in pairs(watched) do
    if session_of(root) or not vim.api.nvim_buf_is_loaded(buffer) then
      watched[root] = nil
    else
      connect_if_it_runs(root)
    end
  end
end

-- Each start of a kernel makes a folder where the sidecars' sockets are, before any code runs in it.
local function watch()
  if watcher then
    return
  end
  local runtime = vim.env.XDG_RUNTIME_DIR
  local folder = runtime and vim.startswith(runtime, "/") and runtime .. "/cellgate"
    or ("/tmp/cellgate-%d"):format(vim.uv.getuid())
  local pending = false
  local handle = assert(vim.uv.new_fs_event())
  -- Where there is none, it is looked again when Neovim gets the focus.
  if
    handle:start(folder, {}, function()
      if not pending and next(watched) then
        pending = true
        vim.defer_fn(function()
          pending = false
          M.look_for_sidecars()
        end, 50)
      end
    end)
  then
    watcher = handle
  else
    handle:close()
  end
end

---@return boolean whether the start of a sidecar is noticed by itself
function M.is_watching()
  return watcher ~= nil
end

-- 'omnifunc' of the files that come with Neovim; one that a user or a language server set is left.
local function is_of_the_runtime(omnifunc)
  return omnifunc == "" or omnifunc:find("^%w*complete#%w+$") ~= nil
end

local function prepare(buffer)
  require("cellgate.keys").set(buffer)
  if is_of_the_runtime(vim.bo[buffer].omnifunc) then
    vim.bo[buffer].omnifunc = "v:lua.require'cellgate.complete'.omnifunc"
  end
  prepared[buffer] = true
  if not config.values.reattach or vim.api.nvim_buf_get_name(buffer) == "" then
    return
  end
  local root = require("cellgate.workspace").root(buffer)
  if not session_of(root) and not watched[root] then
    watched[root] = buffer
    -- Asking makes the folder that is watched.
    connect_if_it_runs(root, watch)
  end
end

--- Does what is to be done for a buffer, if it has cells.
---@param buffer integer
---@param was_read? boolean from its file, just now
function M.look(buffer, was_read)
  if not vim.api.nvim_buf_is_loaded(buffer) then
    return
  end
  cells.when_any(buffer, function()
    prepare(buffer)
    if was_read and session_of(require("cellgate.workspace").root(buffer)) then
      require("cellgate.places").restore(buffer)
    end
  end)
end

--- Does it when the first cell was typed.
---@param buffer integer
function M.typed(buffer)
  if prepared[buffer] then
    return
  end
  local row = vim.api.nvim_win_get_cursor(0)[1] - 1
  local first, last = vim.fn.line("'[") - 1, vim.fn.line("']") - 1
  first = math.max(0, math.min(first, row - 1))
  if cells.any_begins(buffer, first, math.min(math.max(last, row), first + 1000)) then
    prepare(buffer)
  end
end

--- Forgets a buffer.
---@param buffer integer
function M.forget(buffer)
  prepared[buffer] = nil
  cells.forget(buffer)
end

return M
