-- Specs of `check` and `check_fix`: what is sent, where the findings are, and what mends them.
local fixtures = require("fixtures")

local function start(lines, filetype)
  local fake = require("with_fake")()
  local buffer = fixtures.buffer(lines, filetype)
  vim.b[buffer].cellgate_root = "/tmp"
  vim.api.nvim_set_current_buf(buffer)
  fake.shown = {}
  vim.notify = function(words)
    fake.shown[#fake.shown + 1] = words
  end
  return fake, buffer
end

local function command(...)
  require("cellgate.commands").run({ fargs = { ... }, range = 0 })
end

local function finding(more)
  return vim.tbl_extend("force", {
    line = 0,
    column = 0,
    endLine = 0,
    endColumn = 1,
    severity = "error",
    rule = "syntax",
    message = "it is wrong",
  }, more or {})
end

local function answer_with(fake, ...)
  local found = { ... }
  fake.answers.validate = function()
    return { diagnostics = found, checkers = { "python" } }
  end
end

local function diagnostics(buffer)
  return vim.diagnostic.get(buffer, { namespace = require("cellgate.check").namespace })
end

local function wait_found(buffer, count)
  wait(function()
    return #diagnostics(buffer) == count
  end, function()
    return count .. " diagnostics in " .. vim.inspect(diagnostics(buffer))
  end)
end

local function wait_shown(fake, words)
  wait(function()
    return table.concat(fake.shown, "\n"):find(words, 1, true)
  end, function()
    return words .. " in " .. vim.inspect(fake.shown)
  end)
end

it("check: each cell is sent with its language, and its findings are at their bytes", function()
  local fake, buffer =
    start({ "import os", "# %%", "s = '😀é' + x", "# %% [markdown]", "words", "# %% [bash]", "ls" })
  fake.answers.validate = function(params)
    local is_text = params.code:find("é", 1, true)
    local place = finding({ column = 11, endColumn = 12, severity = "warning", rule = "name", message = "no x" })
    return { diagnostics = is_text and { place } or vim.empty_dict(), checkers = { "python" } }
  end
  command("check")
  wait_found(buffer, 1)
  local sent = vim.tbl_map(function(message)
    return { message.params.language, message.params.code, message.params.context }
  end, fake:asked("validate"))
  equal(
    sent,
    { { "python", "import os\n" }, { "python", "s = '😀é' + x\n", { "import os\n" } }, { "bash", "ls\n" } }
  )
  local found = diagnostics(buffer)[1]
  equal({ found.lnum, found.col, found.end_col }, { 2, 15, 16 })
  equal({ found.source, found.code, found.message }, { "cellgate", "name", "no x" })
  equal(found.severity, vim.diagnostic.severity.WARN)
  wait_shown(fake, "1 found")
end)

it("check: a session is named where its kernel runs", function()
  local fake = start({ "x" })
  answer_with(fake)
  local here = fake.connect("/tmp")
  here.kernels.default = "idle"
  command("check")
  wait_shown(fake, "nothing was found by python")
  equal(fake:asked("validate")[1].params.sessionId, "default")
end)

it("check: a write checks where there is a connection, and makes none", function()
  local fake, buffer = start({ "x" })
  answer_with(fake, finding())
  local function write()
    vim.api.nvim_exec_autocmds("BufWritePost", { buffer = buffer, group = "cellgate.check" })
  end
  write()
  equal(fake.connections, 0)
  fake.connect("/tmp")
  write()
  wait_found(buffer, 1)
  require("cellgate.config").set({ check = false })
  write()
  equal(#fake:asked("validate"), 1)
end)

it("check: a later one supersedes the one under way, with one request at a time", function()
  local fake, buffer = start({ "# %%", "1", "# %%", "2" })
  fake.answers.validate = nil
  command("check")
  wait(function()
    return #fake:asked("validate") == 1
  end, "the first request")
  command("check")
  vim.api.nvim_buf_set_lines(buffer, 1, 2, false, { "new" })
  equal(#fake:asked("validate"), 1)
  equal(fake.spy.notifications[#fake.spy.notifications].method, "$/cancelRequest")
  answer_with(fake)
  fake:send({ id = fake:asked("validate")[1].id, error = { code = -32800, message = "cancelled" } })
  wait_shown(fake, "nothing was found by python")
  equal(
    vim.tbl_map(function(message)
      return message.params.code
    end, fake:asked("validate")),
    { "1\n", "new\n", "2\n" }
  )
end)

it("check: an older sidecar is no error", function()
  local fake, buffer = start({ "x" })
  fake.errors.validate = { code = -32601, message = "no such method" }
  fake.connect("/tmp")
  require("cellgate.check").by_itself(buffer)
  wait(function()
    return #fake:asked("validate") == 1
  end, "the request")
  command("check")
  wait_shown(fake, "of an older version")
  equal(#fake.shown, 1)
end)

it("check: the log names a missing program once", function()
  local fake = start({ "x" })
  fake.answers.validate = function()
    return { diagnostics = vim.empty_dict(), checkers = { "python" }, missing = { "pyright: npm install it" } }
  end
  local path = require("cellgate.log").path()
  vim.fn.mkdir(vim.fs.dirname(path), "p")
  vim.fn.delete(path)
  for _ = 1, 2 do
    fake.shown = {}
    command("check")
    wait_shown(fake, "nothing was found")
  end
  equal(#vim.fn.readfile(path), 1)
end)

it("fix: makes the edits of the diagnostic at the cursor, and none in another text", function()
  local fake, buffer = start({ "# %%", "é = 1", "json.loads" })
  local insertion = { line = 0, column = 0, endLine = 0, endColumn = 0, newText = "import json\n" }
  local replacement = { line = 0, column = 0, endLine = 0, endColumn = 1, newText = "e" }
  answer_with(
    fake,
    finding({ edits = { replacement } }),
    finding({ line = 1, endLine = 1, endColumn = 4, edits = { insertion } })
  )
  command("check")
  wait_found(buffer, 2)
  vim.api.nvim_win_set_cursor(0, { 1, 0 })
  command("fix")
  wait_shown(fake, "nothing here has a fix")
  vim.api.nvim_win_set_cursor(0, { 3, 2 })
  answer_with(fake)
  command("fix")
  equal(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), { "# %%", "import json", "é = 1", "json.loads" })
  wait_found(buffer, 0)
  answer_with(fake, finding({ edits = { replacement } }))
  command("check")
  wait_found(buffer, 1)
  vim.api.nvim_buf_set_lines(buffer, -1, -1, false, { "more" })
  vim.api.nvim_win_set_cursor(0, { 2, 0 })
  command("fix")
  wait_shown(fake, "the text was changed")
end)

it("fix: asks where there are several, and installs by the command", function()
  local fake, buffer = start({ "import pandas" })
  local edit = { line = 0, column = 7, endLine = 0, endColumn = 13, newText = "polars" }
  answer_with(fake, finding({ column = 7, endColumn = 13, edits = { edit }, install = { "pandas" } }))
  command("check")
  wait_found(buffer, 1)
  local installed
  require("cellgate.commands").all.install = {
    does = "",
    act = function(arguments)
      installed = arguments
    end,
  }
  local select = vim.ui.select
  local offered
  vim.ui.select = function(items, options, done)
    offered = vim.tbl_map(options.format_item, items)
    done(items[2])
  end
  command("fix")
  vim.ui.select = select
  equal(offered, { "replace with polars", "install pandas" })
  equal(installed, { "pandas" })
end)
