-- Specs of `session_settings`: what a session is created with, what `:Cellgate session` shows and changes, and the
-- timeout of a cell.
local fixtures = require("fixtures")

local function start(lines)
  local fake = require("with_fake")()
  local buffer = fixtures.buffer(lines or { "# %%", "x" })
  vim.b[buffer].cellgate_root = nil
  vim.api.nvim_set_current_buf(buffer)
  fake.shown = {}
  vim.notify = function(words)
    fake.shown[#fake.shown + 1] = words
  end
  vim.o.columns = 300
  fake.answers["session/create"] = function(params)
    return { sessionId = params.sessionId }
  end
  fake.answers.runtimes = function()
    return { runtimes = {}, profiles = { { name = "minimal" }, { name = "strict" } }, launchers = {} }
  end
  return fake
end

local function command(...)
  require("cellgate.commands").run({ fargs = { ... }, range = 0 })
end

local function wait_asked(fake, method, count)
  wait(function()
    return #fake:asked(method) == count
  end, method)
  return fake:asked(method)[count].params
end

local function wait_shown(fake, words)
  wait(function()
    return table.concat(fake.shown, "\n"):find(words, 1, true)
  end, function()
    return words .. " in " .. vim.inspect(fake.shown)
  end)
end

it("session: what the setting says, a session is created with", function()
  local fake = start()
  require("cellgate.config").set({
    session = { limits = { memory = "4G", cores = 1.5 }, timeout = 60, env = { A = "1" }, cwd = "data", profile = "" },
  })
  command("run")
  equal(wait_asked(fake, "session/create", 1), {
    sessionId = "default",
    language = "python",
    limits = { memoryBytes = 4 * 2 ^ 30, cpuCores = 1.5, wallSeconds = 60 },
    env = { A = "1" },
    cwd = "data",
  })
  equal(wait_asked(fake, "execute", 1).sessionId, "default")
end)

it("session: without settings Python's default session starts by itself", function()
  local fake = start()
  command("run")
  equal(wait_asked(fake, "execute", 1).sessionId, nil)
  equal(#fake:asked("session/create"), 0)
end)

it("session: a setting that does not fit is named, and nothing runs", function()
  local fake = start()
  for _, case in ipairs({
    { { limits = { memory = "much" } }, "memory=much: a number is expected" },
    { { limits = { ram = 1 } }, "there is no limit ram=1" },
    { { env = { A = 1 } }, "session.env: A has to be a string" },
    { { timeout = "1" }, "session.timeout has to be a number" },
    { { folder = "x" }, "session has no folder" },
  }) do
    require("cellgate.config").set({ session = case[1] })
    command("run")
    wait_shown(fake, case[2])
  end
  equal(#fake:asked("execute"), 0)
end)

it("session: what is typed before its kernel runs, it is created with", function()
  local fake = start()
  command("session", "memory=1G", "env.A=b", "profile=strict")
  wait_shown(fake, "default has this once its first cell runs")
  command("session")
  wait_shown(fake, "default: limits memory 1 GiB; profile strict; folder the workspace; variables A")
  command("run")
  equal(wait_asked(fake, "session/create", 1), {
    sessionId = "default",
    language = "python",
    limits = { memoryBytes = 2 ^ 30 },
    env = { A = "b" },
    profile = "strict",
  })
end)

it("session: of one that runs limits change at once, the rest after a yes", function()
  local fake = start()
  local here = fake.connect(require("cellgate.workspace").root(0))
  here.kernels.default = "idle"
  fake.answers["limits/set"] = function(params)
    return { limits = params.limits, afterRestart = vim.empty_dict() }
  end
  fake.answers["session/close"] = function() end
  local asked, answer = nil, 2
  local select = vim.ui.select
  vim.ui.select = function(items, options, done)
    asked = options.prompt
    done(items[answer], answer)
  end
  command("session", "timeout=5", "cwd=/usr")
  equal(wait_asked(fake, "limits/set", 1), { sessionId = "default", limits = { wallSeconds = 5 } })
  assert(asked:find("lose its variables", 1, true), asked)
  equal(#fake:asked("session/close"), 0)
  answer = 1
  command("session", "cwd=/usr")
  equal(wait_asked(fake, "session/close", 1), { sessionId = "default" })
  wait_shown(fake, "the next cell starts the new one")
  vim.ui.select = select
  command("run")
  equal(wait_asked(fake, "session/create", 1).cwd, "/usr")
  command("session", "ram=3")
  wait_shown(fake, "there is no setting ram=3")
end)

it("session: what cannot work is refused before a kernel ends for it", function()
  local fake = start()
  local root = require("cellgate.workspace").root(0)
  fake.connect(root).kernels.default = "idle"
  local asked = 0
  local select = vim.ui.select
  vim.ui.select = function(_, _, done)
    asked = asked + 1
    done("end the kernel", 1)
  end
  command("session", "profile=nope")
  wait_shown(fake, "there is no profile nope; there are minimal strict")
  command("session", "timeout=5", "cwd=nofolder")
  wait_shown(fake, ("there is no folder %s/nofolder"):format(root))
  equal({ asked, #fake:asked("session/close"), #fake:asked("limits/set") }, { 0, 0, 0 })
  -- Before the first cell, too.
  fake.connect(root).kernels.default = nil
  command("session", "profile=strikt")
  wait_shown(fake, "there is no profile strikt")
  command("session", "profile=strict", "cwd=/")
  wait_shown(fake, "default has this once its first cell runs")
  vim.ui.select = select
  command("run")
  local created = wait_asked(fake, "session/create", 1)
  equal({ created.profile, created.cwd }, { "strict", "/" })
end)

it("cells: a marker gives its cell a timeout", function()
  local fake =
    start({ "# %% timeout=10", "a", "# %% [bash] timeout=0.5", "b", "# %% notimeout=3", "c", "# %% timeout=0", "d" })
  local timeouts = {}
  for i, cell in ipairs(require("cellgate.cells").all(0)) do
    timeouts[i] = cell.timeout or false
  end
  equal(timeouts, { 10, 0.5, false, false })
  vim.api.nvim_win_set_cursor(0, { 2, 0 })
  command("run")
  equal(wait_asked(fake, "execute", 1).timeoutSeconds, 10)
  command("line")
  equal(wait_asked(fake, "execute", 2).timeoutSeconds, 10)
end)
