-- `connection` is a workspace's connection to its sidecar: its start, its restarts after a crash, and its end. Requests
-- made meanwhile wait until it is ready, or fail with the reason why it will not be. It knows no method but those of
-- starting and ending.
local config = require("cellgate.config")
local notify = require("cellgate.notify")
local rpc = require("cellgate.rpc")

local M = {}

---@alias cellgate.ConnectionState
---| "connecting"
---| "ready"
---| "gone" it ended by itself, and is opened again soon
---| "stopping" goodbye was said, the other side has not ended yet
---| "stopped"

---@class cellgate.ConnectionHandlers
---@field changed fun(state: cellgate.ConnectionState)
---@field connected fun(peer: cellgate.Peer, result: InitializeResult, ready: fun()) others wait until it calls `ready`
---@field lost fun() what the sidecar reported is no longer true
---@field notified fun(peer: cellgate.Peer, method: string, params: table)
---@field requested fun(method: string, params: table, answer: fun(problem: cellgate.RpcError?, result: table?))

---@class cellgate.Connection
---@field root string
---@field state cellgate.ConnectionState
---@field failure? string why nothing more happens by itself, when that was not asked for
---@field package peer? cellgate.Peer the other side, while there is one
---@field package handlers cellgate.ConnectionHandlers
---@field package when_ready (fun(problem: string?, peer: cellgate.Peer?))[]
---@field package when_stopped fun()[]
---@field package again? boolean while it stops: it is to start again
---@field package restarts number[] when it was opened again, in seconds
---@field package retry? uv.uv_timer_t
local Connection = {}
Connection.__index = Connection

-- How often, within how long, a connection that ends is made again by itself.
local max_restarts, restart_window = 5, 180

local not_connected = "this workspace is not connected: :Cellgate attach"

--- How the sidecar is reached; tests put a fake here.
---@type fun(root: string, handlers: cellgate.RpcHandlers): cellgate.Peer?, string?
function M.connect(root, handlers)
  if not vim.uv.fs_stat(root) then
    return nil, ("there is no folder %s: write the file first, with :w ++p"):format(root)
  end
  local program, problem = require("cellgate.program").find()
  if not program then
    return nil, problem
  end
  local command = { program, "connect", "--root", root }
  return rpc.spawn(vim.list_extend(command, config.values.arguments), root, handlers)
end

--- Milliseconds before the n-th restart in a row: at once the first time, then longer and longer.
---@param nth integer
function M.restart_delay(nth)
  return nth == 1 and 100 or 1000 * 2 ^ (nth - 2)
end

---@param root string
---@param handlers cellgate.ConnectionHandlers
---@return cellgate.Connection
function M.new(root, handlers)
  return setmetatable({
    root = root,
    state = "stopped",
    handlers = handlers,
    when_ready = {},
    when_stopped = {},
    restarts = {},
  }, Connection)
end

---@private
function Connection:set_state(state)
  self.state = state
  self.handlers.changed(state)
end

-- Answers those who wait.
---@private
function Connection:release(problem, peer)
  local waiting = self.when_ready
  self.when_ready = {}
  for _, done in ipairs(waiting) do
    done(problem, peer)
  end
end

---@private
function Connection:forget_retry()
  if self.retry and not self.retry:is_closing() then
    self.retry:close()
  end
  self.retry = nil
end

--- Opens it, if it is not open; one that is ending is opened when it has ended.
function Connection:want()
  if self.state == "stopped" then
    self:start()
  elseif self.state == "stopping" then
    self.again = true
  end
end

---@private
function Connection:start()
  self:forget_retry()
  self.failure = nil
  self:set_state("connecting")
  -- An earlier connection may still send messages, none of which is meant for this one.
  local peer, problem
  peer, problem = M.connect(self.root, {
    notified = function(...)
      if self.peer == peer then
        self.handlers.notified(peer, ...)
      end
    end,
    requested = function(...)
      if self.peer == peer then
        self.handlers.requested(...)
      end
    end,
    closed = function(reason)
      if self.peer == peer then
        self:closed(reason)
      end
    end,
  })
  if not peer then
    self:fail(problem --[[@as string]])
    return
  end
  self.peer = peer
  local function is_current()
    return self.peer == peer and self.state == "connecting"
  end
  peer:request("initialize", {
    clientInfo = { name = "neovim", version = tostring(vim.version()) },
    processId = vim.uv.os_getpid(),
    rootUri = vim.uri_from_fname(self.root),
    capabilities = { approvals = true, input = true, elicitation = true, images = "file" },
    initializationOptions = {
      lingerSeconds = config.values.linger_seconds,
      spareKernel = config.values.spare_kernel,
      mcpServers = next(config.values.mcp_servers) and config.values.mcp_servers or vim.empty_dict(),
    },
  }, function(failure, result)
    if not is_current() then
      return
    elseif failure then
      self:fail(rpc.describe(failure))
      return
    end
    peer:notify("initialized", {})
    self.handlers.connected(peer, result, function()
      if is_current() then
        self:set_state("ready")
        self:release(nil, peer)
      end
    end)
  end)
end

-- Nothing more happens by itself: a user has to correct something.
---@private
function Connection:fail(reason)
  local peer = self.peer
  self.peer, self.failure = nil, reason
  if peer then
    peer.hang_up()
  end
  require("cellgate.log").write("error", self.root .. ": " .. reason)
  self:set_state("stopped")
  self:release(reason)
  notify.show(reason, vim.log.levels.ERROR)
end

---@private
function Connection:closed(reason)
  self.peer = nil
  local was_stopping = self.state == "stopping"
  self.state = "gone"
  self.handlers.lost()
  if was_stopping then
    self:stopped()
    return
  end
  require("cellgate.log").write("warning", self.root .. ": " .. reason)
  local now = vim.uv.hrtime() / 1e9
  self.restarts = vim.tbl_filter(function(at)
    return now - at < restart_window
  end, self.restarts)
  if #self.restarts >= max_restarts then
    self:fail(("the sidecar of %s ended %d times: %s"):format(self.root, #self.restarts + 1, reason))
    return
  end
  table.insert(self.restarts, now)
  self:set_state("gone")
  self.retry = vim.defer_fn(function()
    if self.state == "gone" then
      self:start()
    end
  end, M.restart_delay(#self.restarts))
end

---@private
function Connection:stopped()
  self:set_state("stopped")
  local waiting = self.when_stopped
  self.when_stopped = {}
  for _, done in ipairs(waiting) do
    done()
  end
  if self.again then
    self.again = nil
    self:start()
  end
end

--- Calls `done` with the other side when it is there, or with the reason why it will not be.
---@param done fun(problem: string?, peer: cellgate.Peer?)
function Connection:ready(done)
  if self.state == "ready" then
    done(nil, self.peer)
  elseif self.state == "stopped" or (self.state == "stopping" and not self.again) then
    done(self.failure or not_connected)
  else
    table.insert(self.when_ready, done)
  end
end

--- Asks the sidecar, when it is there.
---@param method string
---@param params table|string
---@param done? fun(problem: cellgate.RpcError?, result: any)
function Connection:request(method, params, done)
  self:ready(function(problem, peer)
    if peer then
      peer:request(method, params, done)
    elseif done then
      done({
        code = 0,
        message = problem --[[@as string]],
      })
    end
  end)
end

--- Says goodbye. With `exit`, the last editor ends the sidecar, its kernels and all that they run. Said twice, it waits
--- for no answer.
---@param done? fun() when the other side has ended
function Connection:stop(done)
  table.insert(self.when_stopped, done)
  self:forget_retry()
  self.again, self.failure = nil, nil
  local peer = self.peer
  if not peer then
    self.state = "stopped"
    self:release(not_connected)
    self:stopped()
    return
  end
  local function leave()
    peer:notify("exit", {})
    peer.hang_up()
  end
  if self.state == "stopping" then
    self:release(not_connected)
    leave()
    return
  end
  self:set_state("stopping")
  self:release(not_connected)
  peer:request("shutdown", {}, leave)
end

return M
