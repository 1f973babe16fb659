-- Specs of `installs`: what the sidecar is asked, what the user sees of it, and how it is cancelled.
local start = require("with_fake")

local function command(words)
  vim.cmd("Cellgate " .. words)
end

-- The messages while `act` ran, once there are so many.
local function told(act, count)
  local words, before = {}, vim.notify
  vim.notify = function(text)
    words[#words + 1] = text
  end
  local done, problem = pcall(act)
  vim.wait(60000, function()
    return not done or #words >= count
  end, 1)
  vim.notify = before
  assert(done, problem)
  return words
end

it("installs: names go to the sidecar as they were typed, and what was installed is a message", function()
  local fake = start()
  fake.answers["packages/install"] = function()
    return { status = "ok", installed = { { name = "six", version = "1.16" } }, output = "", layers = {} }
  end
  fake.connect(require("cellgate.workspace").root(0))
  local words = told(function()
    command("install six>=1,<2 typing_extensions")
  end, 1)
  local params = fake:asked("packages/install")[1].params
  equal(params.packages, { "six>=1,<2", "typing_extensions" })
  equal(params.sessionId, nil)
  equal(type(params.workDoneToken), "string")
  equal(words, { "cellgate: installed: six 1.16" })
end)

it("installs: a failure is a message with its reason, and its output is in the log", function()
  local fake = start()
  local logged
  local log = require("cellgate.log")
  local write = log.write
  log.write = function(_, text)
    logged = logged or text
  end
  fake.answers["packages/install"] = function()
    return { status = "failed", installed = {}, output = "all of it", reason = "pip ended", layers = {} }
  end
  fake.connect(require("cellgate.workspace").root(0))
  local words = told(function()
    command("install nosuch")
  end, 1)
  log.write = write
  equal(words[1]:sub(1, 41), "cellgate: nothing was installed: pip ende")
  equal(logged, "all of it")
end)

it("installs: with a bang what waits is cancelled; without names nothing is asked", function()
  local fake = start()
  fake.connect(require("cellgate.workspace").root(0))
  equal(
    told(function()
      command("install")
      vim.cmd("Cellgate! install")
    end, 2),
    {
      "cellgate: which packages? For example :Cellgate install pandas",
      "cellgate: nothing is installed at the moment",
    }
  )
  equal(fake:asked("packages/install"), {})
  command("install six")
  local asked = fake:asked("packages/install")[1]
  vim.cmd("Cellgate! install")
  local last = fake.spy.notifications[#fake.spy.notifications]
  equal({ last.method, last.params.id }, { "$/cancelRequest", asked.id })
end)
