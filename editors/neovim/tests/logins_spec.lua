-- Specs of `logins`: a page is opened only where the user saw its host and said so, and only one of the web.

---@return table fake
---@return table seen what was selected from, what was opened, what was said
local function start()
  local fake = require("with_fake")()
  local seen = { prompts = {}, opened = {}, messages = {}, choice = nil }
  fake.connect("/tmp")
  vim.ui.select = function(items, how, done) -- luacheck: ignore
    local format = how.format_item or tostring
    local names = vim.tbl_map(format, items)
    table.insert(seen.prompts, { prompt = how.prompt, names = names })
    for i, name in ipairs(names) do
      if name == seen.choice then
        return done(items[i])
      end
    end
    done(nil)
  end
  require("cellgate.config").values.open = function(url)
    table.insert(seen.opened, url)
  end
  require("cellgate.notify").show = function(words)
    table.insert(seen.messages, words)
  end
  fake.answers["toolServers/login"] = function(params)
    return {
      authorizationUrl = seen.url or ("https://login.example/authorize?for=" .. params.server),
      host = "login.example",
    }
  end
  fake.answers["toolServers/cancelLogin"] = function() end
  fake.answers["toolServers/logout"] = function() end
  fake.answers["toolServers/list"] = function()
    local function server(name, authorization)
      return { name = name, state = "stopped", source = "user", identity = name, authorization = authorization }
    end
    return { servers = { server("linear", "needed"), server("notes", "granted"), server("web", "none") } }
  end
  return fake, seen
end

local function command(...)
  vim.b.cellgate_root = "/tmp"
  require("cellgate.commands").run({ fargs = { ... }, range = 0 })
end

local function wait_prompts(seen, count)
  wait(function()
    return #seen.prompts == count
  end, function()
    return count .. " prompts in " .. vim.inspect(seen)
  end)
end

local function wait_message(seen, words)
  wait(function()
    return table.concat(seen.messages, "\n"):find(words, 1, true)
  end, function()
    return words .. " in " .. vim.inspect(seen.messages)
  end)
end

it("logins: the page is opened after a yes to its host, and how it ended is said", function()
  local fake, seen = start()
  seen.choice = "open it in the browser"
  command("login", "linear")
  wait_prompts(seen, 1)
  equal(seen.prompts[1].prompt, "Log in to linear: open login.example in the browser?")
  equal(seen.opened, { "https://login.example/authorize?for=linear" })
  wait_message(seen, "waits for the login at login.example")
  fake:notify("toolServers/loginEnded", { server = "linear", status = "granted" })
  wait_message(seen, "logged in to linear")
  fake:notify("toolServers/loginEnded", { server = "linear", status = "failed", message = "login.example refused" })
  wait_message(seen, "the login to linear failed: login.example refused")
end)

it("logins: without a yes nothing is opened; asked again, the same login is offered, and can be cancelled", function()
  local fake, seen = start()
  command("login", "linear")
  wait_prompts(seen, 1)
  equal({ seen.opened, #fake:asked("toolServers/cancelLogin") }, { {}, 0 })
  seen.choice = "copy the URL"
  command("login", "linear")
  wait_prompts(seen, 2)
  equal(vim.fn.getreg('"'), "https://login.example/authorize?for=linear")
  seen.choice = "show the whole URL"
  command("login", "linear")
  wait_prompts(seen, 3)
  equal(vim.api.nvim_buf_get_lines(0, 0, -1, false), { "https://login.example/authorize?for=linear" })
  seen.choice = "cancel the login"
  command("login", "linear")
  wait_prompts(seen, 4)
  wait(function()
    return #fake:asked("toolServers/cancelLogin") == 1
  end, "the request")
  equal({ #fake:asked("toolServers/login"), seen.opened }, { 1, {} })
  fake:notify("toolServers/loginEnded", { server = "linear", status = "cancelled" })
  wait_message(seen, "the login to linear was given up")
  command("login", "linear")
  wait_prompts(seen, 5)
  equal(#fake:asked("toolServers/login"), 2)
end)

it("logins: a page that is none of the web is not opened", function()
  local _, seen = start()
  seen.choice = "open it in the browser"
  seen.url = "file:///tmp/program.desktop"
  command("login", "linear")
  wait_message(seen, "is no page of the web")
  equal(seen.opened, {})
end)

it("logins: a user who went on typing elsewhere is not asked, and what they type opens nothing", function()
  local fake, seen = start()
  seen.choice = "open it in the browser"
  fake.answers["toolServers/login"] = nil
  vim.cmd.enew()
  command("login", "linear")
  wait(function()
    return #fake:asked("toolServers/login") == 1
  end, "the request")
  vim.cmd.new()
  local answer = { authorizationUrl = "https://login.example/", host = "login.example" }
  fake:send({ id = fake:asked("toolServers/login")[1].id, result = answer })
  wait_message(seen, "the page for linear is there, at login.example; :Cellgate login linear opens it")
  equal({ seen.prompts, seen.opened }, { {}, {} })
  command("login", "linear")
  wait_prompts(seen, 1)
  equal(seen.opened, { "https://login.example/" })
end)

it("logins: a page is not opened when its login ended while the user was asked", function()
  local fake, seen = start()
  vim.ui.select = function(items, _, done) -- luacheck: ignore
    fake:notify("toolServers/loginEnded", { server = "linear", status = "cancelled" })
    wait_message(seen, "given up")
    done(items[1])
  end
  command("login", "linear")
  wait_message(seen, "this login to linear does not wait any more")
  equal(seen.opened, {})
end)

it("logins: without a name, those that need one are offered, and for the end those that have one", function()
  local fake, seen = start()
  seen.choice = "linear"
  command("login")
  wait_prompts(seen, 2)
  equal(seen.prompts[1].names, { "linear" })
  equal(fake:asked("toolServers/login")[1].params, { server = "linear" })
  seen.choice = "notes"
  command("logout")
  wait_prompts(seen, 3)
  equal(seen.prompts[3].names, { "notes" })
  wait_message(seen, "logged out of notes")
  equal(fake:asked("toolServers/logout")[1].params, { server = "notes" })
end)

it("logins: the list of tool servers shows who needs one, and its keys log in and out", function()
  local fake, seen = start()
  command("servers")
  local function text()
    return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), "\n")
  end
  local function wait_text(words)
    wait(function()
      return text():find(words, 1, true)
    end, function()
      return words .. " in " .. text()
    end)
  end
  wait_text("linear  stopped, needs a login: I logs in")
  wait_text("notes  stopped, logged in")
  wait_text("web  stopped  (user)")
  vim.fn.search("linear")
  vim.api.nvim_feedkeys("I", "xt", false)
  wait_prompts(seen, 1)
  wait_text("linear  stopped, waits for the login at login.example")
  fake:notify("toolServers/loginEnded", { server = "linear", status = "cancelled" })
  wait_text("linear  stopped, needs a login")
  vim.fn.search("notes")
  vim.api.nvim_feedkeys("O", "xt", false)
  wait_message(seen, "logged out of notes")
end)

it("logins: the end of the connection ends those that wait", function()
  local fake, seen = start()
  command("login", "linear")
  wait_prompts(seen, 1)
  local here = require("cellgate.session").of("/tmp")
  assert(here.logins.linear)
  fake.peer.hang_up()
  wait(function()
    return not here.logins.linear
  end, "the end of the login")
end)
