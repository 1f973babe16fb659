-- Specs of `secrets`: what is listed, what is sent, and that no value is shown.

---@return table fake
---@return table sent by method, the last params
local function start(secrets)
  local fake = require("with_fake")()
  local sent = {}
  fake.connect("/tmp")
  fake.answers["secret/list"] = function()
    return { secrets = secrets }
  end
  for _, method in ipairs({ "secret/set", "secret/delete" }) do
    fake.answers[method] = function(params)
      sent[method] = params
      return {}
    end
  end
  vim.b.cellgate_root = "/tmp"
  require("cellgate.commands").run({ fargs = { "secrets" }, range = 0 })
  return fake, sent
end

local function wait_lines(part)
  wait(function()
    return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), "\n"):find(part, 1, true)
  end, function()
    return part .. " in " .. vim.inspect(vim.api.nvim_buf_get_lines(0, 0, -1, false))
  end)
end

local function press(key)
  vim.api.nvim_feedkeys(key, "mx", false)
end

it("secrets: each is one line, and a key deletes it", function()
  local _, sent = start({
    { name = "DB", scope = "workspace", source = "command", from = "pass show db", usedBy = {} },
    { name = "TOKEN", scope = "user", source = "stored", usedBy = { "github", "web\27" } },
  })
  wait_lines("DB  workspace  command: pass show db")
  wait_lines("TOKEN  user  stored  used by github, web")
  vim.api.nvim_win_set_cursor(0, { 2, 0 })
  press("d")
  wait(function()
    return sent["secret/delete"]
  end, "secret/delete")
  equal(sent["secret/delete"], { name = "DB", scope = "workspace" })
end)

-- Answers the questions for a new secret; `which` of the scopes.
local function press_add(which, typed)
  local input, select, secret = vim.ui.input, vim.ui.select, vim.fn.inputsecret
  local offered
  vim.ui.input = function(_, done) -- luacheck: ignore
    done("TOKEN")
  end
  vim.ui.select = function(items, _, done) -- luacheck: ignore
    offered = items
    done(items[which])
  end
  vim.fn.inputsecret = function() -- luacheck: ignore
    return typed
  end
  press("a")
  vim.ui.input, vim.ui.select, vim.fn.inputsecret = input, select, secret -- luacheck: ignore
  return offered
end

it("secrets: a value is typed unseen and sent, and an empty one is not", function()
  local _, sent = start({})
  wait_lines("none")
  equal(#press_add(2, ""), 2)
  equal(sent["secret/set"], nil)
  press_add(2, "v4lue")
  wait(function()
    return sent["secret/set"]
  end, "secret/set")
  equal(sent["secret/set"], { name = "TOKEN", scope = "workspace", value = "v4lue" })
  for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
    local lines = table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), "\n")
    assert(not lines:find("v4lue", 1, true), lines)
  end
end)

it("secrets: one may be for the session at the cursor, where its kernel runs", function()
  local _, sent = start({
    { name = "TOKEN", scope = "session", sessionId = "default", source = "stored", usedBy = {} },
  })
  wait_lines("TOKEN  session default  stored")
  local here = require("cellgate.session").of("/tmp")
  here.kernels.default = "dead"
  equal(#press_add(3, "v4lue"), 2)
  here.kernels.default = "idle"
  equal(#press_add(3, "v4lue"), 3)
  wait(function()
    return sent["secret/set"]
  end, "secret/set")
  equal(sent["secret/set"], { name = "TOKEN", scope = "session", sessionId = "default", value = "v4lue" })
  vim.api.nvim_win_set_cursor(0, { 2, 0 })
  press("d")
  wait(function()
    return sent["secret/delete"]
  end, "secret/delete")
  equal(sent["secret/delete"], { name = "TOKEN", scope = "session", sessionId = "default" })
  here.kernels.default = nil
end)
