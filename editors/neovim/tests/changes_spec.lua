-- Specs of the files that a cell changed: its line, the lists, diffs, and undo.
local start_fake = require("with_fake")

local function version(bytes, more)
  return vim.tbl_extend("force", { sha256 = ("%064d"):format(bytes), bytes = bytes, mode = "0644" }, more or {})
end

local created = { path = "data/out\226\128\174.csv", kind = "created", after = version(40) }
local modified = { path = "notes.py", kind = "modified", before = version(12), after = version(2500) }
local deleted = { path = "old.txt", kind = "deleted", before = version(3000000) }

local function list_of(id, more)
  return vim.tbl_extend(
    "force",
    { executionId = id, files = { created, modified, deleted }, complete = true },
    more or {}
  )
end

-- A sidecar with an execution `run` that changed files; `asked` is what the user was asked, who says `answer`.
local function start()
  vim.o.columns, vim.o.lines = 100, 40
  vim.cmd("silent! tabonly!")
  vim.cmd("silent! only!")
  local fake = start_fake()
  fake.here = fake.connect("/tmp")
  fake.here:remember("run", "default", {
    code = "write()\n",
    state = "finished",
    result = { status = "ok", executionCount = 1, durationSeconds = 0.1, waitedSeconds = 0 },
  })
  fake.lists = { run = list_of("run") }
  fake.answers["changes/list"] = function(params)
    return fake.lists[params.executionId] or list_of(params.executionId)
  end
  fake.answers["changes/read"] = function(params)
    return fake.contents and fake.contents[params.side] or { text = params.side .. "\n" }
  end
  fake.answers["changes/undo"] = function(params)
    return { undoId = "undo-1", restored = params.paths or { "a", "b", "c" }, refused = {} }
  end
  fake.asked_user, fake.answer = {}, 1
  vim.ui.select = function(choices, options, done)
    table.insert(fake.asked_user, options.prompt)
    done(fake.answer and choices[fake.answer], fake.answer)
  end
  function fake:changed(id, files, more)
    self:notify(
      "changes/found",
      vim.tbl_extend("force", { executionId = id, files = files, complete = true }, more or {})
    )
  end
  return fake
end

local function type_keys(keys)
  vim.api.nvim_feedkeys(vim.keycode(keys), "xt", false)
end

local function rows(buffer)
  return vim.api.nvim_buf_get_lines(buffer or 0, 1, -1, false)
end

local function wait_rows(expected)
  wait(function()
    return vim.deep_equal(rows(), expected)
  end, function()
    return vim.inspect(expected) .. ", and there was " .. vim.inspect(rows())
  end)
end

local function find(words)
  vim.api.nvim_win_set_cursor(0, { 1, 0 })
  assert(vim.fn.search("\\V" .. words) > 0, words)
end

local listed = {
  "A data/out<U+202E>.csv  40 B",
  "M notes.py  12 B → 2.5 kB",
  "D old.txt  3.0 MB",
}

it("changes: an execution says how many files it changed, and whether that was undone", function()
  local fake = start()
  local function words()
    return (require("cellgate.execution_state").describe(fake.here.executions.run))
  end
  local function becomes(expected)
    wait(function()
      return words() == expected
    end, words)
  end
  equal(words(), "[1] ok 0.1 s")
  fake:changed("run", 3)
  becomes("[1] ok 0.1 s, 3 files changed")
  fake:changed("undo-1", 1, { undoOf = "run" })
  fake:changed("undo-2", 3, { undoOf = "run" })
  becomes("[1] ok 0.1 s, 3 files changed, undone")
  fake:changed("undo-3", 3, { undoOf = "undo-2" })
  becomes("[1] ok 0.1 s, 3 files changed")
end)

it("changes: what was changed before is known from the record, unless it is not as it should be", function()
  local fake = start()
  fake.answers["record/query"] = function()
    return {
      more = false,
      entries = {
        { executionId = "undo", data = { files = 2, complete = true, undoOf = "b" } },
        { executionId = "b", data = { files = 2, complete = true } },
        { executionId = "a", data = { files = 1, complete = false } },
        { executionId = "odd", data = { files = "many" } },
      },
    }
  end
  fake:changed("run", 3)
  wait(function()
    return fake.here:changes_of("run")
  end, "the notification")
  fake.here:restore_changes(fake.peer)
  wait(function()
    return #fake.here.changes == 4
  end, function()
    return vim.inspect(fake.here.changes)
  end)
  equal(
    vim.tbl_map(function(found)
      return found.executionId
    end, fake.here.changes),
    { "a", "b", "undo", "run" }
  )
  equal(fake.here:is_undone("b"), true)
end)

it("changes: what changed files is listed, newest first, and what an execution changed", function()
  local fake = start()
  fake.here:remember("helped", "agent-1", { code = "help()\nmore()", agent = "helper", state = "finished" })
  fake:changed("run", 3)
  fake:changed("helped", 1, { agent = "helper" })
  fake:changed("undo-1", 1, { undoOf = "helped" })
  fake:changed("unknown", 1)
  require("cellgate.changes_list").executions("/tmp")
  wait_rows({
    "helper: 1 file changed  undo of help()",
    "helper: 1 file changed, undone  help()",
    "3 files changed  write()",
  })
  find("write()")
  type_keys("<CR>")
  wait_rows(listed)
end)

it("changes: a list says what it does not have, and whose its changes may be", function()
  local fake = start()
  fake.lists.run = list_of("run", {
    files = { modified },
    count = 20000,
    complete = false,
    notCovered = { { path = "film.mkv", why = "it is too large" }, { path = "", why = "no git" } },
    overlapping = { "b" },
    undoneBy = "undo-1",
  })
  require("cellgate.changes_list").files("/tmp", "run")
  wait_rows({
    "changes of it were undone; R undoes the undo",
    "another cell ran meanwhile: these may be the changes of that, too",
    "not covered: film.mkv: it is too large",
    "not covered: the workspace: no git",
    "M notes.py  12 B → 2.5 kB",
    "… 19999 more",
  })
end)

it("changes: a file is shown before and after, in buffers that cannot be changed", function()
  local fake = start()
  require("cellgate.changes_list").files("/tmp", "run")
  wait_rows(listed)
  find("notes.py")
  type_keys("<CR>")
  wait(function()
    return #vim.api.nvim_list_tabpages() == 2 and #vim.api.nvim_tabpage_list_wins(0) == 2
  end, "a tab with two windows")
  local shown = {}
  for i, window in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
    local buffer = vim.api.nvim_win_get_buf(window)
    shown[i] = {
      vim.api.nvim_buf_get_lines(buffer, 0, -1, false)[1],
      vim.bo[buffer].filetype,
      vim.bo[buffer].modifiable,
      vim.wo[window].diff,
    }
  end
  equal(shown, { { "before", "python", false, true }, { "after", "python", false, true } })
  type_keys("q")
  equal(#vim.api.nvim_list_tabpages(), 1)
  wait_rows(listed)
  equal(fake:asked("changes/read")[2].params, { executionId = "run", path = "notes.py", side = "after" })
  -- There was none before.
  fake.contents = { before = vim.empty_dict(), after = { text = "new" } }
  find("out")
  type_keys("<CR>")
  wait(function()
    return #vim.api.nvim_list_tabpages() == 2
  end, "a tab")
  equal(
    vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(vim.api.nvim_tabpage_list_wins(0)[1]), 0, -1, false),
    { "" }
  )
  type_keys("q")
end)

it("changes: what is not text is not shown", function()
  local fake = start()
  fake.contents = { before = { text = "x" }, after = { base64 = "AAA=" } }
  require("cellgate.changes_list").files("/tmp", "run")
  wait_rows(listed)
  local said
  vim.notify = function(words)
    said = words
  end
  find("notes.py")
  type_keys("<CR>")
  wait(function()
    return said
  end, "a message")
  vim.notify = function() end
  equal(said, "cellgate: notes.py is not text (12 B → 2.5 kB)")
  equal(#vim.api.nvim_list_tabpages(), 1)
end)

it("changes: an undo is of one file or of all, and of nothing that was not confirmed", function()
  local fake, shown = start(), {}
  vim.notify = function(words)
    shown[#shown + 1] = words
  end
  require("cellgate.changes_list").files("/tmp", "run")
  wait_rows(listed)
  find("notes.py")
  fake.answer = nil
  type_keys("u")
  fake.answer = 2
  type_keys("u")
  local question = "Undo what changed in notes.py: restore it?"
  equal(fake.asked_user, { question, question })
  equal(fake:asked("changes/undo"), {})
  fake.answer = 1
  type_keys("u")
  wait(function()
    return #fake:asked("changes/list") == 2
  end, "the list to be read again")
  equal(fake:asked("changes/undo")[1].params, { executionId = "run", paths = { "notes.py" } })
  type_keys("U")
  equal(fake.asked_user[4], "Undo what changed in 3 files: delete 1, restore 1, bring back 1?")
  wait(function()
    return #fake:asked("changes/undo") == 2
  end, "the undo")
  equal(fake:asked("changes/undo")[2].params, { executionId = "run" })
  wait(function()
    return #shown == 2
  end, "what was done")
  equal(shown, { "cellgate: changes to 1 file undone", "cellgate: changes to 3 files undone" })
end)

it("changes: an undo is undone as an execution is", function()
  local fake = start()
  fake.lists.run = list_of("run", { undoneBy = "undo-1" })
  require("cellgate.changes_list").files("/tmp", "run")
  wait(function()
    return #rows() == 4
  end, "the list")
  type_keys("R")
  wait(function()
    return #fake:asked("changes/undo") == 1
  end, "the undo")
  equal(fake:asked("changes/undo")[1].params, { executionId = "undo-1" })
end)

it("changes: what prevented an undo is in the list, with what was changed since", function()
  local fake = start()
  fake.answers["changes/undo"] = function()
    return { restored = {}, refused = { { path = "notes.py", why = "it was changed since" } } }
  end
  require("cellgate.changes_list").files("/tmp", "run", true)
  wait_rows(vim.list_extend({ "not undone: notes.py: it was changed since" }, listed))
  equal(#fake.asked_user, 1)
  find("not undone")
  type_keys("<CR>")
  wait(function()
    return #vim.api.nvim_list_tabpages() == 2
  end, "a tab")
  local windows = vim.api.nvim_tabpage_list_wins(0)
  equal(#windows, 2)
  -- It is not there any more.
  equal(vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(windows[2]), 0, -1, false), { "" })
  type_keys("q")
end)

-- A file of a folder of its own, in a buffer, that an agent's code is said to have changed.
local function start_open_file()
  local fake = start()
  local root = vim.fn.tempname()
  vim.fn.mkdir(root)
  fake.path = root .. "/notes.py"
  vim.fn.writefile({ "mine" }, fake.path)
  vim.cmd.edit(fake.path)
  fake.buffer = vim.api.nvim_get_current_buf()
  vim.wo.scrolloff = 0
  fake.connect(root)
  fake.messages = {}
  vim.notify = function(words)
    table.insert(fake.messages, words)
  end
  function fake:lines()
    return vim.api.nvim_buf_get_lines(self.buffer, 0, -1, false)
  end
  function fake:edit_as_agent()
    vim.fn.writefile({ "the agent's", "second" }, self.path)
    self:changed("run", 1, { agent = "helper" })
  end
  return fake
end

it("changes: a buffer is read again that an agent changed, and a message says so", function()
  local fake = start_open_file()
  fake:edit_as_agent()
  wait(function()
    return vim.deep_equal(fake:lines(), { "the agent's", "second" })
  end, "the agent's lines")
  wait(function()
    return #fake.messages == 1
  end, "a message")
  equal(fake.messages, { "cellgate: helper changed notes.py: :Cellgate! changes" })
  fake:changed("undo-1", 1, { agent = "helper", undoOf = "run" })
  fake:changed("mine", 1)
  wait(function()
    return #fake:asked("changes/list") == 3
  end, "three lists")
  equal(#fake.messages, 1)
end)

it("changes: edits of an agent that come together are one message", function()
  local fake = start_open_file()
  fake:edit_as_agent()
  fake:edit_as_agent()
  fake:edit_as_agent()
  wait(function()
    return #fake.messages > 0
  end, "a message")
  equal(fake.messages, { "cellgate: helper changed notes.py in 3 edits: :Cellgate! changes" })
end)

it("changes: a buffer with unsaved changes is left as it is when an agent changes its file", function()
  local fake = start_open_file()
  vim.api.nvim_buf_set_lines(fake.buffer, 0, -1, false, { "typed" })
  fake:edit_as_agent()
  wait(function()
    return #fake.messages == 1
  end, "a message")
  equal(fake.messages, { "cellgate: helper changed notes.py; unsaved lines stay: :Cellgate! changes" })
  equal(fake:lines(), { "typed" })
  vim.bo[fake.buffer].modified = false
end)
