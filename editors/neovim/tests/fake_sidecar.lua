-- `fake_sidecar` is a sidecar without a process: it answers as a spec wants it to, and records what it receives
-- (`spy`).
local connection = require("cellgate.connection")
local rpc = require("cellgate.rpc")
local session = require("cellgate.session")

local M = {}

---@class cellgate.FakeSidecar
---@field answers table<string, fun(params: table): table?> in place of those below
---@field errors table<string, cellgate.RpcError> what is refused
---@field after? fun(peer: cellgate.Peer) what happens behind such an error
---@field connections integer how many there were
---@field max_open integer of them at a time
---@field spy { requests: table[], notifications: table[], responses: table[] }
local Fake = {}
Fake.__index = Fake

local answers = {
  initialize = function()
    return {
      serverInfo = { name = "cellgate", version = "0" },
      protocolVersion = "1",
      role = "user",
      capabilities = {},
    }
  end,
  ["session/list"] = function()
    return { sessions = {} }
  end,
}

--- From now on, sessions talk to this.
---@return cellgate.FakeSidecar
function M.install()
  local fake = setmetatable({
    spy = { requests = {}, notifications = {}, responses = {} },
    answers = {},
    errors = {},
    connections = 0,
    open = 0,
    max_open = 0,
  }, Fake)
  connection.connect = function(_, handlers)
    local peer
    local closed = handlers.closed
    handlers.closed = function(reason)
      fake.open = fake.open - 1
      closed(reason)
    end
    peer = rpc.new(function(bytes)
      fake:hear(vim.json.decode(bytes:match("\r\n\r\n(.*)$"), { luanil = { object = true } }))
    end, handlers)
    peer.hang_up = function()
      peer:close("hung up")
    end
    fake.peer = peer
    fake.connections, fake.open = fake.connections + 1, fake.open + 1
    fake.max_open = math.max(fake.max_open, fake.open)
    return peer
  end
  return fake
end

function Fake:send(message)
  message.jsonrpc = "2.0"
  local body = vim.json.encode(message)
  self.peer:feed(("Content-Length: %d\r\n\r\n%s"):format(#body, body))
end

---@private
function Fake:hear(message)
  if not message.method then
    table.insert(self.spy.responses, message)
  elseif not message.id then
    table.insert(self.spy.notifications, message)
  else
    table.insert(self.spy.requests, message)
    if self.errors[message.method] then
      self:send({ id = message.id, error = self.errors[message.method] })
      if self.after then
        self.after(self.peer)
      end
      return
    end
    local answer = self.answers[message.method] or answers[message.method]
    if answer then
      self:send({ id = message.id, result = answer(message.params) or vim.empty_dict() })
    end
  end
end

function Fake:notify(method, params)
  self:send({ method = method, params = params })
end

--- What was asked with a method.
function Fake:asked(method)
  return vim.tbl_filter(function(message)
    return message.method == method
  end, self.spy.requests)
end

--- Connects a workspace.
---@param root string
function M.connect(root)
  local here = session.of(root)
  vim.wait(60000, function()
    return here.connection.state == "ready"
  end, 1)
  return here
end

--- An approval as the sidecar sends it.
local function approval(id, more)
  return vim.tbl_deep_extend("force", {
    approvalId = id,
    action = { kind = "tool", server = "fs", tool = "read", argumentsText = vim.json.encode({ path = id }) },
    hints = vim.empty_dict(),
    display = { "tool read of fs", ('path: "%s"'):format(id) },
    editText = ('{\n  "path": "%s"\n}'):format(id),
    choices = {
      { label = "this call", scope = "once" },
      { label = "any read of fs, this session", scope = "session", rule = { effect = "allow", kind = "tool" } },
    },
    createdAt = "2026-01-05T09:30:02.500Z",
  }, more or {})
end

function Fake:ask(id, more)
  self:notify("approval/requested", approval(id, more))
end

return M
