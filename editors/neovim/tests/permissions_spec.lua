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
  local empty = { rules = {}, servers = {}, secrets = {} }
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

it("permissions: without a sandbox it says that nothing is asked", function()
  local free = vim.tbl_extend("force", info, { sandbox = "none", layers = {} })
  local words = texts(free, {})
  has(words, "its code can do all that you can")
  has(words, "any host, without asking you")
  lacks(words, "any other host")
end)

it("permissions: the weaker sandbox reaches no host", function()
  local words = texts(vim.tbl_extend("force", info, { sandbox = "landlock" }), {})
  has(words, "no host: this sandbox has no network")
  lacks(words, "any other host")
end)

it("permissions: a key revokes the rule of a line", function()
  local fake = require("with_fake")()
  local removed
  fake.connect("/tmp")
  fake.answers["session/list"] = function()
    return { sessions = { info } }
  end
  fake.answers["policy/list"] = function()
    return { rules = { rule({ kind = "network", host = "example.org" }) } }
  end
  fake.answers["toolServers/list"] = function()
    return { servers = {} }
  end
  fake.answers["secret/list"] = function()
    return { secrets = {} }
  end
  fake.answers["policy/remove"] = function(params)
    removed = params
    return {}
  end
  vim.b.cellgate_root = "/tmp"
  require("cellgate.commands").run({ fargs = { "permissions" }, range = 0 })
  local line
  wait(function()
    for i, text in ipairs(vim.api.nvim_buf_get_lines(0, 0, -1, false)) do
      line = text:find("allow network example.org", 1, true) and i or line
    end
    return line
  end, "the rule")
  vim.api.nvim_win_set_cursor(0, { line, 0 })
  vim.api.nvim_feedkeys("X", "mx", false)
  wait(function()
    return removed
  end, "policy/remove")
  equal(removed, { ruleId = "r1" })
end)
