-- Specs of `:Cellgate limits`, and of how `:Cellgate kernels` describes a session.
local limits = require("cellgate.limits")

local function run_command(words)
  vim.b.cellgate_root = "/tmp"
  require("cellgate.commands").run({ fargs = vim.split(words, " "), range = 0 })
end

local function start()
  local fake = require("with_fake")()
  fake.connect("/tmp")
  fake.shown = {}
  vim.notify = function(words)
    fake.shown[#fake.shown + 1] = words
  end
  return fake
end

local function wait_shown(fake, words)
  wait(function()
    return vim.iter(fake.shown):any(function(each)
      return each:find(words, 1, true) ~= nil
    end)
  end, function()
    return words .. " in " .. vim.inspect(fake.shown)
  end)
end

it("limits: sizes have units, other numbers have none, and what is not known is refused", function()
  equal(limits.parse({ "memory=4G", "processes=100", "cores=1.5", "timeout=60", "disk=512m" }), {
    memoryBytes = 4 * 2 ^ 30,
    processCount = 100,
    cpuCores = 1.5,
    wallSeconds = 60,
    diskBytes = 2 ^ 29,
  })
  for argument, problem in pairs({
    ["memory=much"] = "such as 512M or 4G",
    ["timeout=1m"] = "a number is expected",
    ["memory"] = "there is no limit memory; there are memory=",
    ["ram=4G"] = "there is no limit ram=4G",
  }) do
    local parsed, found = limits.parse({ argument })
    equal(parsed, nil)
    equal(found and found:find(problem, 1, true) ~= nil, true)
  end
  equal(limits.limits_words({ memoryBytes = 3 * 2 ^ 29, wallSeconds = 60 }), "memory 1.5 GiB, timeout 60")
  equal(limits.limits_words(nil), "none beside the defaults")
end)

it("limits: the command sends what was typed, and says what needs a restart", function()
  local fake = start()
  fake.answers["limits/set"] = function(params)
    return { limits = params.limits, afterRestart = { "cpuSeconds" } }
  end
  run_command("limits cpu-seconds=600 timeout=60")
  wait_shown(fake, "cpu-seconds 600, timeout 60; after :Cellgate restart: cpuSeconds")
  equal(fake:asked("limits/set")[1].params, { sessionId = "default", limits = { cpuSeconds = 600, wallSeconds = 60 } })
  fake.answers["session/list"] = function()
    return { sessions = { { sessionId = "default", limits = { wallSeconds = 60 } } } }
  end
  run_command("limits")
  wait_shown(fake, "default: timeout 60")
end)

it("kernels: a session that runs says what it uses", function()
  local fake = start()
  fake.answers["stats"] = function()
    return {
      sessions = {
        {
          sessionId = "default",
          status = "busy",
          queueLength = 2,
          processes = 1,
          processorSeconds = 3.5,
          memoryBytes = 64 * 2 ^ 20,
        },
        { sessionId = "agent-1", agent = "Ada", status = "dead", queueLength = 0 },
        { sessionId = "far", status = "idle", queueLength = 0 },
        { sessionId = "mine", status = "idle", queueLength = 0 },
      },
      spareKernel = { processes = 2, processorSeconds = 0.5, memoryBytes = 32 * 2 ^ 20 },
    }
  end
  fake.answers["session/list"] = function()
    return {
      sessions = {
        { sessionId = "default", status = "busy", kernel = { name = "python3" } },
        { sessionId = "far", status = "idle", kernel = { server = "https://hub.example.org" } },
        { sessionId = "mine", status = "idle", kernel = { connectionFile = "/k.json" } },
      },
    }
  end
  fake.answers["kernel/list"] = function()
    return { kernels = { { name = "python3", displayName = "Python", language = "python" } } }
  end
  run_command("kernels")
  wait(function()
    return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), "\n"):find("python3", 1, true)
  end, "the list")
  equal(vim.api.nvim_buf_get_lines(0, 1, 7, false), {
    "session default: busy, 2 waiting, 3.5 s of processor time, 64 MiB, 1 process",
    "session agent-1: dead, agent Ada",
    "session far: idle, on https://hub.example.org",
    "session mine: idle, already ran",
    "kept ready for the next session: 0.5 s of processor time, 32 MiB, 2 processes",
    "python3  Python, python",
  })
end)

it("kernels: those of a Jupyter server, by its address", function()
  local fake = start()
  local asked
  fake.answers["kernel/list"] = function(params)
    asked = params
    return { kernels = { { name = "ir", displayName = "R", language = "R", source = "server" } } }
  end
  run_command("kernels https://hub.example.org/user/me")
  wait(function()
    return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), "\n"):find("ir  R, R", 1, true)
  end, "the list")
  equal(asked, { server = { url = "https://hub.example.org/user/me" } })
end)
