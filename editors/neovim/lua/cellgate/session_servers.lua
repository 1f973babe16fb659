-- `session_servers` is the part of `cellgate.Session` about tool servers: what they ask the user, and the logins that
-- wait for a browser.
local notify = require("cellgate.notify")

---@class cellgate.PendingElicitation an elicitation, with what the plugin knows of it
---@field tag string its name in commands; never given twice, to an approval neither
---@field elicitation Elicitation
---@field session cellgate.Session

---@class cellgate.Session
local Servers = {}

Servers["on elicitation/requested"] = function(self, params)
  local known = self.elicitations[params.elicitationId]
  self.elicitations[params.elicitationId] = {
    tag = known and known.tag or self.new_tag(),
    elicitation = params,
    session = self,
  }
  self:emit("CellgateElicitation", {
    waiting = vim.tbl_count(self.elicitations),
    elicitation = params.elicitationId,
  })
end

Servers["on elicitation/resolved"] = function(self, params)
  if self.elicitations[params.elicitationId] then
    self.elicitations[params.elicitationId] = nil
    self:emit("CellgateElicitation", {
      waiting = vim.tbl_count(self.elicitations),
      elicitation = params.elicitationId,
      action = params.action,
    })
  end
end

--- A login waits for the user's browser.
---@param server string
---@param login ToolServersLoginResult
function Servers:on_login(server, login)
  self.logins[server] = login
  self:emit("CellgateLogin", { server = server, status = "waiting" })
end

---@param ended ToolServersLoginEndedParams
local function how_it_ended(ended)
  if ended.status == "granted" then
    return ("logged in to %s"):format(ended.server), vim.log.levels.INFO
  elseif ended.status == "cancelled" then
    return ("the login to %s was given up"):format(ended.server), vim.log.levels.WARN
  end
  return ("the login to %s failed: %s"):format(ended.server, ended.message), vim.log.levels.ERROR
end

Servers["on toolServers/loginEnded"] = function(self, params)
  self.logins[params.server] = nil
  notify.show(how_it_ended(params))
  self:emit("CellgateLogin", { server = params.server, status = params.status, message = params.message })
end

--- The connection has ended: the sidecar announces again what still waits.
---@private
function Servers:forget_servers()
  self.logins = {}
  if next(self.elicitations) then
    self.elicitations = {}
    self:emit("CellgateElicitation", { waiting = 0 })
  end
end

return Servers
