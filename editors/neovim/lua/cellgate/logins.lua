-- `logins` logs in at the authorization servers of tool servers, and out. A page is opened only when the user has seen
-- its host and said so. What is typed there cellgate never sees.
local browser = require("cellgate.browser")
local list_window = require("cellgate.list_window")
local notify = require("cellgate.notify")
local session = require("cellgate.session")
local text = require("cellgate.text")

local M = {}

---@class cellgate.LoginStep
---@field does string
---@field act fun()

-- Asks what to do. Given up, everything stays as it is.
---@param prompt string
---@param steps cellgate.LoginStep[]
local function choose(prompt, steps)
  vim.ui.select(steps, {
    prompt = prompt,
    format_item = function(step)
      return step.does
    end,
  }, function(step)
    if step then
      step.act()
    end
  end)
end

local function told(words)
  if words then
    notify.show(words, vim.log.levels.WARN)
  end
end

---@param here cellgate.Session
---@param server string
---@return cellgate.LoginStep
local function give_up(here, server)
  return {
    does = "cancel the login",
    act = function()
      here:request("toolServers/cancelLogin", { server = server }, list_window.or_tell(function() end))
    end,
  }
end

---@param server string
---@param login ToolServersLoginResult
local function show_waiting(server, login)
  notify.show(("waits for the login at %s (:Cellgate login %s)"):format(login.host, server))
end

---@param here cellgate.Session
---@param server string
local function offer_page(here, server)
  local login = here.logins[server]
  -- While one asks, the login may end or begin again, which makes the page useless.
  local function if_it_waits(act)
    return function()
      if here.logins[server] ~= login then
        told(("this login to %s does not wait any more"):format(server))
      else
        act()
      end
    end
  end
  choose(("Log in to %s: open %s in the browser?"):format(server, text.visible(login.host)), {
    {
      does = "open it in the browser",
      act = if_it_waits(function()
        show_waiting(server, login)
        told(browser.open_page(login.authorizationUrl))
      end),
    },
    {
      does = "copy the URL",
      act = if_it_waits(function()
        local register = browser.copy(login.authorizationUrl)
        notify.show(("the URL is in register %s; it waits for the login at %s"):format(register, login.host))
      end),
    },
    {
      does = "show the whole URL",
      act = if_it_waits(function()
        list_window.show_text({ name = "login/" .. server, root = here.root }, login.authorizationUrl)
        show_waiting(server, login)
      end),
    },
    give_up(here, server),
  })
end

-- Where the user is. What they type there is not meant for a question that comes later.
local function place()
  return { vim.api.nvim_get_mode().mode, vim.api.nvim_get_current_buf(), vim.api.nvim_win_get_cursor(0) }
end

---@param here cellgate.Session
---@param server string
local function log_in(here, server)
  if here.logins[server] then
    offer_page(here, server)
    return
  end
  local before = place()
  here:request(
    "toolServers/login",
    { server = server },
    list_window.or_tell(function(login)
      here:on_login(server, login)
      notify.show(("to log in to %s, open a page of %s: %s"):format(server, login.host, login.authorizationUrl))
      if vim.deep_equal(place(), before) then
        offer_page(here, server)
      else
        notify.show(("the page for %s is there, at %s; :Cellgate login %s opens it"):format(server, login.host, server))
      end
    end)
  )
end

-- Asks which one of those whose authorization is so.
---@param here cellgate.Session
---@param authorization ToolServerAuthorization
---@param prompt string
---@param none string
---@param act fun(server: string)
local function choose_server(here, authorization, prompt, none, act)
  here:request(
    "toolServers/list",
    {},
    list_window.or_tell(function(result)
      local names = {}
      for _, server in ipairs(result.servers) do
        if server.authorization == authorization or (authorization == "needed" and here.logins[server.name]) then
          names[#names + 1] = server.name
        end
      end
      if #names == 0 then
        notify.show(none)
        return
      end
      vim.ui.select(names, { prompt = prompt }, function(server)
        if server then
          act(server)
        end
      end)
    end)
  )
end

--- Logs in; where a login waits already, offers its page again, or to give it up.
---@param root string
---@param server? string else the user chooses one of those that need it
function M.login(root, server)
  local here = session.of(root)
  if server then
    log_in(here, server)
  else
    choose_server(here, "needed", "Log in to which tool server?", "no tool server needs a login", function(name)
      log_in(here, name)
    end)
  end
end

---@param here cellgate.Session
---@param server string
---@param done? fun()
local function log_out(here, server, done)
  here:request(
    "toolServers/logout",
    { server = server },
    list_window.or_tell(function()
      notify.show(("logged out of %s"):format(server))
      if done then
        done()
      end
    end)
  )
end

---@param root string
---@param server? string else the user chooses one of those where they are logged in
---@param done? fun()
function M.logout(root, server, done)
  local here = session.of(root)
  if server then
    log_out(here, server, done)
  else
    choose_server(here, "granted", "Log out of which tool server?", "no tool server has a login", function(name)
      log_out(here, name)
    end)
  end
end

return M
