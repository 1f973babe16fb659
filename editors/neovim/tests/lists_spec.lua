-- Specs of the plugin's own windows below the current one: what a key acts on there, and which commands work there.
local fake_sidecar, session

local function start()
  package.loaded.fake_sidecar = nil
  fake_sidecar = require("fake_sidecar")
  session = require("cellgate.session")
  vim.o.columns, vim.o.lines = 100, 40
  vim.cmd("silent! only!")
  require("cellgate").start()
  local fake = fake_sidecar.install()
  fake_sidecar.connect("/tmp")
  return fake
end

local function run_commands(words)
  require("cellgate.commands").run({ fargs = vim.split(words, " "), range = 0 })
end

local function type_keys(keys)
  vim.api.nvim_feedkeys(vim.keycode(keys), "xt", false)
end

local function lines()
  return vim.api.nvim_buf_get_lines(0, 0, -1, false)
end

local function wait_line(pattern)
  wait(function()
    return table.concat(lines(), "\n"):find(pattern)
  end, function()
    return pattern .. " in " .. vim.inspect(lines())
  end)
end

local function rule(id)
  return { id = id, effect = "allow", server = "fs", tool = "read_" .. id, source = "session", sessionId = "default" }
end

it("lists: after a rule was revoked, the next key does not act on the one that came into its place", function()
  local fake = start()
  local rules = { rule("a"), rule("b"), rule("c") }
  fake.answers["policy/list"] = function()
    return { rules = rules }
  end
  fake.answers["policy/remove"] = function(params)
    rules = vim.tbl_filter(function(each)
      return each.id ~= params.ruleId
    end, rules)
  end
  require("cellgate.policy_lists").rules("/tmp")
  wait_line("read_c")
  vim.fn.search("read_b")
  type_keys("X")
  wait(function()
    return #lines() == 3
  end, "the end of the rule")
  type_keys("X")
  equal(#fake:asked("policy/remove"), 1)
  vim.fn.search("read_c")
  type_keys("X")
  wait(function()
    return #lines() == 2
  end, "the end of the other")
  equal(fake:asked("policy/remove")[2].params.ruleId, "c")
end)

it("lists: what was decided is shown with why, also what no user was asked about", function()
  local fake = start()
  fake.answers["policy/decisions"] = function()
    return {
      forgotten = 5,
      decisions = {
        {
          number = 7,
          decidedAt = "2026-01-05T09:31:00Z",
          decision = "allow",
          by = "rule",
          rule = rule("a"),
          reason = "a rule of the session",
          action = { kind = "tool", server = "fs", tool = "read_a", arguments = vim.empty_dict() },
          display = { "tool read_a of fs", 'path: "notes.txt"' },
          origin = { line = 3, text = "read_a()", reportedBy = "code" },
          outcome = { status = "failed", endedAt = "2026-01-05T09:31:02Z", error = "no file" },
        },
        {
          number = 6,
          decidedAt = "2026-01-05T09:30:00Z",
          decision = "deny",
          by = "user",
          reason = "not this folder",
          display = { "tool write_b of fs" },
          approvalId = "a1",
          agent = "helper",
        },
      },
    }
  end
  require("cellgate.policy_lists").decisions("/tmp")
  wait_line("5 more are not shown")
  local times = vim.tbl_map(function(line)
    return (line:gsub("^%d+%-%d+%-%d+ %d+:%d+:00  ", "WHEN  "))
  end, lines())
  equal({ times[2], times[3] }, {
    "WHEN  tool read_a of fs  allowed by a rule, it failed: no file",
    "WHEN  tool write_b of fs  denied by a user",
  })
  local list = vim.api.nvim_get_current_win()
  vim.fn.search("read_a")
  type_keys("<CR>")
  wait_line("a rule of the session")
  equal(lines(), {
    "tool read_a of fs",
    'path: "notes.txt"',
    "",
    "2026-01-05T09:31:00Z, allowed by a rule: a rule of the session",
    "it failed: no file",
    "rule: allow fs/read_a   in session default",
    "line 4, reported by the code: read_a()",
  })
  vim.api.nvim_set_current_win(list)
  vim.fn.search("write_b")
  type_keys("<CR>")
  wait_line("too large to keep")
  equal(lines()[5], "by agent helper")
end)

it("lists: a call that goes on is cancelled", function()
  local fake = start()
  fake.answers["policy/decisions"] = function()
    return {
      forgotten = 0,
      decisions = {
        {
          number = 8,
          decidedAt = "2026-01-05T09:32:00Z",
          decision = "allow",
          by = "user",
          reason = "a user allowed it",
          display = { "tool wait_c of fs" },
          cancellable = true,
        },
      },
    }
  end
  fake.answers["action/cancel"] = function()
    return {}
  end
  require("cellgate.policy_lists").decisions("/tmp")
  wait_line("tool wait_c of fs  allowed by a user, it goes on")
  vim.fn.search("wait_c")
  type_keys("X")
  wait(function()
    return #fake:asked("action/cancel") == 1
  end, "the request to cancel")
  equal(fake:asked("action/cancel")[1].params, { number = 8 })
end)

it("lists: the cursor stays at its execution when others come", function()
  local fake = start()
  fake.answers["execute/cancel"] = function()
    return {}
  end
  local here = session.of("/tmp")
  here:execute({ code = "first" })
  local second = here:execute({ code = "second" })
  require("cellgate.kernel_lists").executions("/tmp")
  wait_line("second")
  vim.fn.search("second")
  here:execute({ code = "third" .. (" and more"):rep(100) })
  fake:notify("execute/changed", { executionId = here.order[3], sessionId = "default", state = "running" })
  wait_line("third")
  for _, line in ipairs(vim.api.nvim_buf_get_lines(0, 1, -1, false)) do
    assert(vim.fn.strdisplaywidth(line) <= vim.api.nvim_win_get_width(0), line)
  end
  type_keys("X")
  wait(function()
    return #fake:asked("execute/cancel") == 1
  end, "the request")
  equal(fake:asked("execute/cancel")[1].params.executionId, second.id)
end)

it("lists: a command that is typed there is for the workspace and kernel that it shows", function()
  local fake = start()
  fake.answers["policy/list"] = function()
    return { rules = {} }
  end
  fake.answers["kernel/variables"] = function()
    return { variables = {} }
  end
  local interrupted = {}
  fake.answers["session/interrupt"] = function(params)
    interrupted[#interrupted + 1] = params.sessionId
    return {}
  end
  local function interrupt()
    local before = #interrupted
    run_commands("interrupt")
    wait(function()
      return #interrupted > before
    end, "the request")
  end
  require("cellgate.policy_lists").rules("/tmp")
  interrupt()
  require("cellgate.kernel_lists").variables("/tmp", "julia")
  interrupt()
  local execution = session.of("/tmp"):execute({ code = "1", session = "julia" })
  require("cellgate.output_window").open(execution)
  interrupt()
  equal(interrupted, { "default", "julia", "julia" })
  equal(vim.tbl_keys(session.all), { "/tmp" })
end)

it("lists: their text is not run, no matter who wrote it", function()
  local fake = start()
  fake.answers["toolServers/list"] = function()
    return { servers = { { name = "theirs", state = "failed", source = "workspace", tools = {} } } }
  end
  fake.answers["toolServers/log"] = function()
    return { text = "# %%\nprint('not the user's')" }
  end
  require("cellgate.tool_servers").list("/tmp")
  wait_line("theirs")
  vim.fn.search("theirs")
  for _, command in ipairs({ "run", "advance", "all", "file", "line" }) do
    run_commands(command)
  end
  type_keys("L")
  wait_line("not the user's")
  local before = lines()
  for _, command in ipairs({ "run", "advance", "all", "file", "line" }) do
    run_commands(command)
  end
  equal(lines(), before)
  equal({ #fake:asked("execute"), #fake:asked("session/create") }, { 0, 0 })
  -- The same text in a file is run.
  vim.cmd("enew | setfiletype python")
  vim.api.nvim_buf_set_lines(0, 0, -1, false, before)
  run_commands("run")
  wait(function()
    return #fake:asked("execute") == 1
  end, "the request")
end)

it("lists: what a saved session of Neovim brought back is a list again, and no file with changes", function()
  local fake = start()
  fake.answers["policy/list"] = function()
    return { rules = { rule("a") } }
  end
  -- What mksession writes for a window with the list.
  vim.cmd("edit cellgate://rules")
  equal(vim.bo.buftype, "")
  require("cellgate.policy_lists").rules("/tmp")
  wait_line("read_a")
  equal({ vim.bo.buftype, vim.bo.bufhidden, vim.bo.swapfile, vim.bo.buflisted, vim.bo.modified }, {
    "nofile",
    "wipe",
    false,
    false,
    false,
  })
end)

it("lists: the code of an execution is opened twice without harm", function()
  start()
  session.of("/tmp"):execute({ code = "one\226\128\174\ntwo" })
  for _ = 1, 2 do
    require("cellgate.kernel_lists").executions("/tmp")
    wait_line("one")
    vim.fn.search("one")
    type_keys("C")
    equal(lines(), { "one<U+202E>", "two" })
  end
end)

it("lists: a rule that is typed says what it covers before it is added", function()
  local fake = start()
  local typed = { effect = "allow", kind = "tool", server = "fs", tool = "move" }
  fake.answers["policy/parse"] = function(params)
    equal(params.text, "allow fs/move path=under:data")
    return { rule = typed, words = "allow tool move of fs" }
  end
  fake.answers["policy/preview"] = function()
    return { since = "2026-01-05T09:00:00Z", allowed = 2, denied = 1 }
  end
  local shown
  vim.ui.select = function(choices, options, answer)
    shown = options.prompt
    answer(choices[1])
  end
  run_commands("rule allow fs/move path=under:data")
  wait(function()
    return #fake:asked("policy/add") == 1
  end, "the new rule")
  equal(
    shown,
    "allow tool move of fs (of the last 30 days it covers 2 actions that were allowed and 1 action that was denied; "
      .. "it would have allowed what was denied)"
  )
  equal(fake:asked("policy/add")[1].params, { rule = typed, scope = "workspace" })
end)

it("lists: of wrappers that were not generated it is not said that they are done", function()
  local fake = start()
  local shown = {}
  require("cellgate.notify").show = function(words)
    shown[#shown + 1] = words
  end
  local function progress(kind, title)
    fake:notify("$/progress", { token = "generate-fs", value = { kind = kind, title = title } })
  end
  local servers = require("cellgate.tool_servers")
  local function generate()
    shown = {}
    progress("begin", "Generating wrappers")
    progress("end")
    servers.generate("/tmp", "fs")
    wait(function()
      return #shown >= 2
    end, "the messages")
    return shown
  end
  fake.errors["wrappers/generate"] = { code = 1012, message = "fs has no such tool" }
  local told = generate()
  equal({ told[1], told[2]:find("fs has no such tool", 1, true) ~= nil, #told }, { "Generating wrappers", true, 2 })
  fake.errors["wrappers/generate"] = nil
  for count, words in pairs({ [0] = "0 modules", "1 module", "2 modules" }) do
    fake.answers["wrappers/generate"] = function()
      local modules = {}
      for i = 1, count do
        modules[i] = { tool = "t", module = "m", path = "/m" }
      end
      return { package = "mcptools.fs", modules = modules, skipped = {} }
    end
    equal(generate(), { "Generating wrappers", "mcptools.fs has " .. words })
  end
end)
