-- Specs of `:Cellgate record`: its words, its keys, its pages.
local action = { kind = "tool", server = "fs", tool = "read_file" }
local decided = {
  number = 7,
  decision = "allow",
  by = "user",
  reason = "a\226\128\174b",
  action = action,
  display = { "tool read_file of fs" },
}

local function entry(seq, type, data, more)
  return vim.tbl_extend("force", {
    seq = seq,
    time = "2026-01-05T09:31:00.000Z",
    type = type,
    actor = "cellgate",
    data = data or vim.empty_dict(),
  }, more or {})
end

-- A sidecar whose record can be queried, as the real one answers.
local function start(record)
  vim.o.columns, vim.o.lines = 100, 40
  vim.cmd("silent! only!")
  local fake = require("with_fake")()
  fake.record = record
  fake.connect("/tmp")
  fake.answers["record/query"] = function(params)
    local found = {}
    for i = #fake.record, 1, -1 do
      local each = fake.record[i]
      if
        each.seq < (params.beforeSeq or math.huge)
        and (not params.types or vim.list_contains(params.types, each.type))
        and (not params.executionId or each.executionId == params.executionId)
        and (not params.text or vim.json.encode(each):find(params.text, 1, true))
      then
        found[#found + 1] = each
      end
    end
    return { entries = vim.list_slice(found, 1, params.limit), more = #found > params.limit, problem = fake.problem }
  end
  return fake
end

local function open(words)
  vim.b.cellgate_root = "/tmp"
  require("cellgate.commands").run({
    fargs = vim.split("record " .. (words or ""), " ", { trimempty = true }),
    range = 0,
  })
end

local function type_keys(keys)
  vim.api.nvim_feedkeys(vim.keycode(keys), "xt", false)
end

-- The rows of the list, without the times.
local function rows()
  return vim.tbl_map(function(line)
    return (line:gsub("^%d+%-%d+%-%d+ %d+:%d+:%d+  ", ""))
  end, vim.api.nvim_buf_get_lines(0, 1, -1, false))
end

local function wait_rows(expected)
  wait(function()
    return vim.deep_equal(rows(), expected)
  end, function()
    return vim.inspect(expected) .. ", and there was " .. vim.inspect(rows())
  end)
end

local function wait_count(count)
  wait(function()
    return #rows() == count
  end, function()
    return count .. " rows, and there were " .. #rows()
  end)
end

local function notices()
  local shown = {}
  require("cellgate.notify").show = function(words)
    shown[#shown + 1] = words
  end
  return shown
end

local function run(id)
  return { executionId = id, sessionId = "default" }
end

it("record: each row takes one line of the window, and <CR> shows all of it", function()
  local code = '(lambda names: exec("' .. ("\\n漢\7"):rep(500) .. '", names))({})'
  start({
    entry(0, "execution.started", { code = code }, run("a")),
    entry(1, "policy.removed", { ruleId = "r", reason = ("long "):rep(100) }),
  })
  open()
  wait(function()
    return #rows() == 2
  end, "both rows")
  for _, row in ipairs(rows()) do
    assert(row:find("…$"), row)
  end
  for _, line in ipairs(vim.api.nvim_buf_get_lines(0, 1, -1, false)) do
    local cells = vim.fn.strdisplaywidth(line)
    assert(cells <= 100 and cells >= 98, line)
  end
  type_keys("2G<CR>")
  wait(function()
    return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), "\n"):find(("long "):rep(100), 1, true)
  end, "the whole entry")
end)

it("record: requests, and rules about them, are in words", function()
  start({
    entry(0, "action.decided", {
      number = 9,
      decision = "deny",
      by = "user",
      reason = "no",
      display = {},
      action = {
        kind = "request",
        host = "x.org",
        port = 8080,
        tls = false,
        method = "POST",
        path = "/graphql",
      },
    }),
    entry(1, "policy.added", {
      rule = {
        effect = "inspect",
        kind = "request",
        host = "x.org",
        inject = { as = "header", name = "X-Key", value = "${secret:KEY}", variable = "KEY" },
        source = "userStore",
      },
    }),
    entry(2, "policy.added", {
      rule = {
        effect = "allow",
        kind = "request",
        host = "x.org",
        methods = { "GET", "HEAD" },
        paths = { "/repos/**", "/user" },
        source = "userStore",
      },
    }),
    entry(3, "policy.added", {
      rule = {
        effect = "inspect",
        kind = "request",
        host = "x.org",
        inject = { as = "aws", value = "${secret:ID}:${secret:KEY}" },
        source = "userStore",
      },
    }),
  })
  vim.o.columns = 150
  open()
  wait_rows({
    "rule added: inspect requests to x.org, signed for AWS with ${secret:ID}:${secret:KEY}   always",
    "rule added: allow GET, HEAD x.org/repos/** and /user   always",
    "rule added: inspect requests to x.org, with ${secret:KEY} as header X-Key, and a placeholder in KEY   always",
    "denied: POST http://x.org:8080/graphql",
  })
end)

it("record: entries say in words what happened, newest first", function()
  start({
    entry(0, "session.created", { kernel = { name = "python3" }, sandbox = "bwrap" }),
    entry(1, "execution.started", { code = "\nimport os\n1" }, run("e")),
    entry(2, "action.decided", decided, run("e")),
    entry(3, "action.ended", { number = 7, status = "failed", error = "no file" }, run("e")),
    entry(4, "action.ended", { number = 8, status = "succeeded" }, run("e")),
    entry(5, "execution.ended", {
      status = "error",
      durationSeconds = 2,
      error = { ename = "NameError", evalue = "x" },
    }, run("e")),
    entry(6, "kernel.ended", { reason = "it died" }),
    entry(7, "policy.added", { rule = { effect = "deny", kind = "network", host = "x.org", source = "userStore" } }),
    entry(8, "login.ended", { server = "notes", error = "refused" }),
    entry(9, "record.pruned", { firstKept = 12 }),
    entry(10, "record.gap", { dropped = 3, error = "no space" }),
    entry(11, "execution.started", { sha256 = "00", bytes = 70000 }),
    entry(12, "files.changed", { files = 3, complete = true }),
    entry(13, "files.restored", { files = 1, complete = true }),
    entry(14, "secret.set", { name = "TOKEN", scope = "workspace", source = "stored" }),
    entry(15, "secret.used", { name = "TOKEN", scope = "user", server = "notes" }),
    entry(16, "secret.used", { name = "TOKEN", scope = "user", host = "x.org:443" }),
    entry(17, "limits.changed", { limits = { memoryBytes = 2 ^ 33, cpuCores = 1.5 } }),
  })
  open()
  wait_rows({
    "limits changed: memory 8 GiB, cores 1.5",
    "secret TOKEN put into a request to x.org:443",
    "secret TOKEN given to notes",
    "secret TOKEN of this workspace set",
    "restored 1 file",
    "changed 3 files",
    "ran: 70000 bytes of code",
    "3 entries were not kept: no space",
    "entries before number 12 were removed",
    "login to notes failed: refused",
    "rule added: deny network x.org   always",
    "kernel ended: it died",
    "ended: error, 2.0 s: NameError: x",
    "succeeded: action 8",
    "failed: read_file of fs: no file",
    "allowed: read_file of fs",
    "ran: import os",
    "session created: python3, in bwrap",
  })
end)

it("record: what is not known, or not as its type says, is shown as it is", function()
  start({
    entry(0, "moon.rose", { at = { 5 } }),
    entry(1, "policy.added"),
    entry(2, "execution.started", { code = 5 }),
    entry(3, "action.decided", { decision = "deny", number = 1 }),
  })
  open()
  wait_count(4)
  equal(rows()[2], 'execution.started: {"code":5}')
  equal(rows()[3], "policy.added: {}")
  equal(rows()[4], 'moon.rose: {"at":[5]}')
  local list = vim.api.nvim_get_current_win()
  for line = 2, 5 do
    vim.api.nvim_set_current_win(list)
    vim.api.nvim_win_set_cursor(0, { line, 0 })
    type_keys("<CR>")
    assert(vim.api.nvim_buf_get_name(0):find("cellgate://entry", 1, true), "no text of row " .. line)
  end
  equal(vim.api.nvim_buf_get_lines(0, 0, -1, false)[4], "at: [5]")
end)

it("record: all of an entry is shown, and none of it is hidden or reordered", function()
  start({ entry(4, "action.decided", vim.tbl_extend("force", decided, { agent = "helper" }), { actor = "agent" }) })
  open()
  wait_count(1)
  type_keys("j<CR>")
  equal(vim.api.nvim_buf_get_lines(0, 0, -1, false), {
    "allowed: read_file of fs",
    "2026-01-05T09:31:00.000Z, by agent helper; entry 4",
    "",
    "tool read_file of fs",
    "",
    "2026-01-05T09:31:00.000Z, allowed by a user: a<U+202E>b",
    "by agent helper",
  })
end)

it("record: what no user was asked about is in its row and in its text not called denied", function()
  start({
    entry(
      4,
      "action.decided",
      vim.tbl_extend("force", decided, { decision = "deny", by = "noClient", reason = "none" })
    ),
  })
  open()
  wait_rows({ "not allowed, no user was there: read_file of fs" })
  type_keys("j<CR>")
  equal(vim.api.nvim_buf_get_lines(0, 5, -1, false), {
    "2026-01-05T09:31:00.000Z, not allowed, no user was there: none",
  })
end)

it("record: a text chooses, and f one execution, until it is pressed again", function()
  local fake = start({
    entry(0, "session.closed"),
    entry(1, "execution.started", { code = "first" }, run("a")),
    entry(2, "execution.started", { code = "second" }, run("b")),
    entry(3, "execution.ended", { status = "ok" }, run("a")),
  })
  open("first of")
  wait_rows({ "only what contains “first of”" })
  local asked = fake:asked("record/query")
  equal(asked[#asked].params, { text = "first of", limit = 100 })
  open()
  wait_rows({ "ended: ok", "ran: second", "ran: first", "session closed" })
  vim.fn.search("ran: first")
  type_keys("f")
  wait_rows({ "only one execution; f shows all again", "ended: ok", "ran: first" })
  -- Another execution's end reads the list again, with the same filter.
  require("cellgate.events").emit("CellgateExecution", {})
  wait_rows({ "only one execution; f shows all again", "ended: ok", "ran: first" })
  vim.api.nvim_win_set_cursor(0, { 1, 0 })
  type_keys("f")
  wait_rows({ "ended: ok", "ran: second", "ran: first", "session closed" })
end)

it("record: older entries are read on request, a thousand at a time, and what prevents the record is shown", function()
  local record = {}
  for seq = 0, 1149 do
    record[#record + 1] = entry(seq, "session.closed")
  end
  local fake = start(record)
  open()
  wait_count(101)
  equal(rows()[101], "… + loads older ones")
  type_keys("+")
  wait_count(201)
  for _ = 1, 10 do
    local before = #rows()
    type_keys("+")
    wait(function()
      return #rows() ~= before
    end, "older rows")
  end
  wait_count(1150)
  local asked = fake:asked("record/query")
  equal({ asked[#asked - 1].params, asked[#asked].params }, { { limit = 1000 }, { limit = 200, beforeSeq = 150 } })
  fake.problem = "the record cannot be written: No space left on device"
  open()
  wait_count(102)
  equal(rows()[1], fake.problem)
end)

it("record: gs goes to the line that made a call, or to the cell that ran, be its file open or not", function()
  local file = vim.fs.normalize(vim.fn.tempname() .. ".py")
  vim.fn.writefile({ "# %%", "one", "two", "three" }, file)
  local uri = vim.uri_from_fname(file)
  start({
    entry(0, "session.closed"),
    entry(1, "execution.started", { code = "one", cell = { uri = uri, line = 1 } }, run("e")),
    entry(
      2,
      "action.decided",
      vim.tbl_extend("force", decided, {
        origin = { uri = uri, line = 3, text = "three", reportedBy = "code" },
      }),
      run("e")
    ),
    entry(3, "execution.ended", { status = "ok" }, run("e")),
    entry(4, "execution.started", { code = "agent's" }, run("of an agent")),
  })
  local shown = notices()
  local function go(words)
    local list = vim.fn.bufwinid("cellgate://record")
    vim.api.nvim_set_current_win(list)
    vim.fn.search(words)
    type_keys("gs")
  end
  open()
  wait_count(5)
  go("allowed")
  equal({ vim.api.nvim_buf_get_name(0), vim.api.nvim_win_get_cursor(0)[1] }, { vim.uv.fs_realpath(file), 4 })
  go("ended")
  wait(function()
    return vim.api.nvim_buf_get_name(0) == vim.uv.fs_realpath(file)
  end, "the file")
  equal({ vim.api.nvim_win_get_cursor(0)[1], #vim.api.nvim_tabpage_list_wins(0) }, { 2, 2 })
  go("agent's")
  wait(function()
    return #shown == 1
  end, "a notice")
  go("session closed")
  equal(shown, { "this code was in no file", "this entry has no source line" })
end)

it("record: v tells whether it is as it was written", function()
  local fake = start({})
  local results = {
    { ok = true, entries = 42 },
    { ok = true, entries = 1 },
    { ok = false, entries = 42, firstBadSeq = 17, problem = "entry 17 was changed" },
  }
  fake.answers["record/verify"] = function()
    return table.remove(results, 1)
  end
  local shown = notices()
  open()
  wait_rows({ "none" })
  for i = 1, 3 do
    type_keys("v")
    wait(function()
      return #shown == i
    end, "a notice")
  end
  equal(shown, {
    "42 entries, as they were written",
    "1 entry, as it was written",
    "the record is not as it was written: entry 17 was changed",
  })
end)

it("record: output to an agent, and rules about it, are in words", function()
  local function about(rule)
    return { rule = vim.tbl_extend("error", rule, { source = "workspaceStore" }) }
  end
  local function decision(number, asked)
    return { number = number, decision = "allow", by = "user", reason = "yes", display = {}, action = asked }
  end
  start({
    entry(0, "policy.added", about({ effect = "review", kind = "tool", server = "gmail" })),
    entry(1, "policy.added", about({ effect = "ask", kind = "output" })),
    entry(2, "action.decided", decision(1, { kind = "output", outputText = "x", results = { "gmail/list" } })),
    entry(3, "action.decided", decision(2, { kind = "output", outputText = "y" })),
  })
  open()
  wait_rows({
    "allowed: output to an agent",
    "allowed: output to an agent, which may have results of gmail/list",
    "rule added: ask output   in this workspace",
    "rule added: review gmail/*   in this workspace",
  })
end)

it("record: a rule with confirm, and an answer that was confirmed, say so", function()
  local words = require("cellgate.policy_words")
  local rule = { id = "r", effect = "ask", server = "gmail", tool = "send", confirm = "touch", source = "userStore" }
  equal(words.rule(rule), "ask gmail/send, confirmed by a touch of a security key   always")
  local past = vim.tbl_extend("force", decided, { confirmation = { means = "touch" } })
  equal(words.decided_by(past), "allowed by a user, confirmed by a touch of a security key")
  equal(words.decided_by(decided), "allowed by a user")
end)

-- A sidecar that ran something, and saves tools; the second result presses S at a row, and has the message after it.
local function start_saving(record)
  for i, each in ipairs(record) do
    each.seq = i
  end
  local fake = start(record)
  fake.answers["tools/call"] = function()
    return { content = { { type = "text", text = "two is saved, " .. ("and more about it "):rep(9) } } }
  end
  local shown = notices()
  open()
  wait_count(#record)
  return fake,
    function(words)
      local count = #shown
      vim.fn.search(words)
      type_keys("S")
      wait(function()
        return #shown > count
      end, "a message")
      return shown[#shown]
    end
end

it("record: S saves a function of code that ran long ago, with the rules of its execution", function()
  local code = "x = 1\ndef two():\n    def inner():\n        pass"
  local fake, press = start_saving({
    entry(0, "execution.started", { code = code }, run("a")),
    entry(0, "execution.ended", { status = "ok" }, run("a")),
  })
  equal(press("ended: ok"), "saved two; to import it: :Cellgate generate saved")
  local saved = { name = "two", code = code, rulesOf = { run("a").executionId } }
  equal(fake:asked("tools/call")[1].params, { server = "host", tool = "save_tool", arguments = saved })
end)

it("record: of several functions S saves the one that the user chooses, and none without a choice", function()
  local code = "def one():\n    pass\nasync def two():\n    pass\ndef three():\n    pass\ndef one():\n    pass"
  local fake = start_saving({ entry(0, "execution.started", { code = code }, run("a")) })
  local select, offered, answer = vim.ui.select, nil, nil
  vim.ui.select = function(items, _, done)
    offered = items
    done(answer)
  end
  local function press()
    offered = nil
    vim.fn.search("ran: def one")
    type_keys("S")
    wait(function()
      return offered
    end, "the choice")
    return offered
  end
  equal(press(), { "one", "two", "three" })
  equal(fake:asked("tools/call"), {})
  answer = "two"
  press()
  vim.ui.select = select
  wait(function()
    return #fake:asked("tools/call") == 1
  end, "the call")
  equal(fake:asked("tools/call")[1].params.arguments.name, "two")
end)

it("record: S says what is missing for a tool", function()
  local record = {
    entry(0, "execution.started", { code = "print(1)" }, run("b")),
    entry(0, "execution.started", { sha256 = "00", bytes = 70000 }, run("c")),
    entry(0, "session.closed"),
  }
  local fake, press = start_saving(record)
  equal(press("ran: print"), "this code defines no function of Python")
  equal(press("70000 bytes"), "the record does not have this code")
  equal(press("session closed"), "this row belongs to no execution")
  equal(fake:asked("tools/call"), {})
end)
