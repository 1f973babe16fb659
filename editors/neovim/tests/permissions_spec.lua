-- Specs of `permissions`: what is listed of a session, and what the keys do.

local info = {
  sessionId = "default",
  status = "idle",
  kernel = { name = "python3", language = "python" },
  cwd = "/tmp",
  sandbox = "bwrap",
  layers = { "bwrap", "seccomp" },
  limits = { memoryBytes = 2 ^ 30 },
  executionCount = 0,
  queueLength = 0,
  createdAt = "2026-01-01T00:00:00.000Z",
}

local function rule(more)
  return vim.tbl_extend("force", { id = "r1", effect = "allow", source = "workspaceStore" }, more)
end

local function texts(session, facts)
  local empty = { rules = {}, servers = {}, secrets = {}, profiles = {} }
  local rows = require("cellgate.permissions").rows(session, "/w", vim.tbl_extend("force", empty, facts))
  return table.concat(
    vim.tbl_map(function(row)
      return row.text
    end, rows),
    "\n"
  )
end

local function has(words, part)
  equal(words:find(part, 1, true) and part or words, part)
end

local function lacks(words, part)
  equal(words:find(part, 1, true), nil)
end

it("permissions: rules that hold for the session are listed, and what no rule decides", function()
  local words = texts(info, {
    rules = {
      rule({ kind = "network", host = "example.org" }),
      rule({ kind = "network", host = "of-a-server.org", server = "notes" }),
      rule({ kind = "tool", server = "notes", source = "session", sessionId = "other" }),
      rule({ kind = "tool", server = "files", effect = "deny" }),
    },
    servers = { { name = "notes", state = "stopped", sandbox = "none" } },
    secrets = { { name = "TOKEN", scope = "user", source = "stored", usedBy = {} } },
  })
  has(words, "allow network example.org")
  has(words, "any other host: you are asked")
  has(words, "notes: stopped, outside the sandbox")
  has(words, "deny files/*")
  has(words, "TOKEN: stored")
  has(words, "memory 1 GiB")
  lacks(words, "of-a-server.org")
  lacks(words, "notes/*")
end)

it("permissions: a rule of each kind says what it is about, and nothing that is more", function()
  for expected, of in pairs({
    ["allow start of everything, exactly one payload"] = { kind = "server", server = "everything", payloadHash = "00" },
    ["deny start of any tool server"] = { kind = "server", effect = "deny" },
    ["allow fs/read path=notes.txt"] = {
      kind = "tool",
      server = "fs",
      tool = "read",
      arguments = { ["/path"] = { equals = "notes.txt" } },
    },
    ["allow fs/read, exactly one payload"] = { kind = "tool", server = "fs", tool = "read", payloadHash = "00" },
    ["allow host/*"] = { kind = "host", server = "host" },
    ["allow network tcp://db.org:5432"] = { kind = "network", host = "db.org:5432", protocol = "raw" },
    ["allow network example.org for notes"] = { kind = "network", host = "example.org", server = "notes" },
    ["deny network"] = { kind = "network", effect = "deny" },
    ["allow GET api.org"] = { kind = "request", host = "api.org", methods = { "GET" } },
    ["allow install, exactly one payload"] = { kind = "install", payloadHash = "00" },
    ["ask output"] = { kind = "output", effect = "ask" },
    ["deny everything"] = { effect = "deny" },
  }) do
    equal(require("cellgate.policy_words").rule(rule(of)), expected .. "   in this workspace")
  end
end)

it("permissions: without a sandbox it says that nothing is asked", function()
  local free = vim.tbl_extend("force", info, { sandbox = "none", layers = {} })
  local words = texts(free, {})
  has(words, "its code can do all that you can")
  has(words, "any host, without asking you")
  lacks(words, "any host: you are asked")
end)

it("permissions: the weaker sandbox reaches no host", function()
  local words = texts(vim.tbl_extend("force", info, { sandbox = "landlock" }), {})
  has(words, "no host: this sandbox has no network")
  lacks(words, "any host: you are asked")
end)

-- The list of a session in a window, with one rule. Returns the fake sidecar.
local function opened()
  local fake = require("with_fake")()
  fake.connect("/tmp")
  local answers = {
    ["session/list"] = { sessions = { info } },
    ["policy/list"] = { rules = { rule({ kind = "network", host = "example.org" }) } },
    ["toolServers/list"] = { servers = { { name = "notes", state = "stopped" } } },
    ["secret/list"] = { secrets = {} },
    runtimes = { runtimes = {}, profiles = {}, launchers = {} },
  }
  for method, answer in pairs(answers) do
    fake.answers[method] = function()
      return answer
    end
  end
  vim.b.cellgate_root = "/tmp"
  require("cellgate.commands").run({ fargs = { "permissions" }, range = 0 })
  return fake
end

-- Presses a key on the line that has these words.
local function press(key, words)
  local line
  wait(function()
    for i, text in ipairs(vim.api.nvim_buf_get_lines(0, 0, -1, false)) do
      line = (text:find(words, 1, true) or text:find(words)) and i or line
    end
    return line
  end, words)
  vim.api.nvim_win_set_cursor(0, { line, 0 })
  vim.api.nvim_feedkeys(vim.keycode(key), "mx", false)
end

it("permissions: a key revokes the rule of a line", function()
  local fake = opened()
  local removed
  fake.answers["policy/remove"] = function(params)
    removed = params
    return {}
  end
  press("X", "allow network example.org")
  wait(function()
    return removed
  end, "policy/remove")
  equal(removed, { ruleId = "r1" })
end)

it("permissions: a key shows all of a rule", function()
  opened()
  press("<CR>", "allow network example.org")
  local shown = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), "\n")
  has(shown, "host: example.org")
  has(shown, "source: workspaceStore")
end)

it("permissions: a key begins the command that changes a line", function()
  opened()
  local typed = {}
  local feedkeys = vim.api.nvim_feedkeys
  for words, command in pairs({
    ["any other host"] = "rule allow network ",
    ["any call"] = "rule allow ",
    ["any package"] = "rule deny install",
    ["notes: stopped"] = "servers",
    ["  none$"] = "secrets",
    ["none: any module"] = "profiles",
    ["memory 1 GiB"] = "limits ",
  }) do
    press("", words) -- it is there
    vim.api.nvim_feedkeys = function(keys) ---@diagnostic disable-line: duplicate-set-field
      typed[#typed + 1] = keys
    end
    vim.fn.maparg("<CR>", "n", false, true).callback()
    vim.api.nvim_feedkeys = feedkeys
    equal(typed[#typed], ":Cellgate " .. command)
  end
end)

it("permissions: a key shows the setting that decides a line for new sessions", function()
  opened()
  local shown
  local help = vim.cmd.help
  vim.cmd.help = function(tag) ---@diagnostic disable-line: duplicate-set-field
    shown = tag
  end
  for words, setting in pairs({ ["bwrap, seccomp"] = "sandbox_launcher", ["your home: not seen"] = "sandbox_config" }) do
    press("<CR>", words)
    equal(shown, "cellgate-config-" .. setting)
    has(
      table.concat(vim.fn.readfile(vim.api.nvim_get_runtime_file("doc/cellgate.txt", false)[1]), "\n"),
      "*" .. shown .. "*"
    )
  end
  vim.cmd.help = help
end)
