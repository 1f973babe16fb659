-- Specs of `commands`, `keys` and `open_files`: what commands, keys and typing do.

local function start()
  package.loaded.fake_sidecar = nil
  local fake = require("fake_sidecar")
  require("cellgate").start()
  local installed = fake.install()
  installed.connect = fake.connect
  fake.answers = nil
  return installed
end

local function cells_of(lines, filetype)
  local buffer = vim.api.nvim_create_buf(true, false)
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, lines)
  vim.bo[buffer].filetype = filetype or "python"
  vim.api.nvim_set_current_buf(buffer)
  return buffer
end

local function command(...)
  require("cellgate.commands").run({ fargs = { ... }, range = 0 })
end

local function told(act)
  local messages, notify = {}, vim.notify
  vim.notify = function(words)
    messages[#messages + 1] = words
  end
  act()
  vim.notify = notify
  return messages
end

local function load_plugin()
  vim.g.loaded_cellgate = nil
  vim.cmd.runtime("plugin/cellgate.lua")
end

it("commands: in the window of the log they are about the workspace from which it was opened", function()
  start()
  cells_of({ "# %%", "a" })
  local workspace = require("cellgate.workspace")
  local before = workspace.root(0)
  vim.b.cellgate_root, vim.b.cellgate_session = before, "other"
  command("log")
  equal(vim.api.nvim_buf_get_name(0), require("cellgate.log").path())
  equal({ workspace.root(0), require("cellgate.at_cursor").kernel() }, { before, "other" })
  vim.cmd.close()
end)

it("commands: above, below, all and file run what they say, next and previous go there", function()
  local fake = start()
  cells_of({ "# %%", "a", "# %%", "b", "# %%", "c" })
  local function runs(name)
    local before = #fake:asked("execute")
    command(name)
    wait(function()
      return #fake:asked("execute") > before
    end, name)
    vim.wait(20)
    return vim.tbl_map(function(message)
      return message.params.code
    end, vim.list_slice(fake:asked("execute"), before + 1))
  end
  vim.api.nvim_win_set_cursor(0, { 4, 0 })
  equal(runs("above"), { "a\n" })
  equal(runs("below"), { "b\n", "c\n" })
  equal(runs("all"), { "a\n", "b\n", "c\n" })
  equal(runs("file"), { "# %%\na\n# %%\nb\n# %%\nc\n" })
  command("next")
  equal(vim.api.nvim_win_get_cursor(0), { 6, 0 })
  command("previous")
  equal(vim.api.nvim_win_get_cursor(0), { 4, 0 })
  -- Jumps are remembered.
  vim.cmd.normal({ "``", bang = true })
  equal(vim.api.nvim_win_get_cursor(0), { 6, 0 })
end)

it("commands: code of no language runs nowhere, and the languages are named", function()
  local fake = start()
  fake.answers = {
    ["kernel/list"] = function()
      return { kernels = { { name = "python3", language = "python" }, { name = "bash", language = "bash" } } }
    end,
  }
  local buffer = cells_of({ "# %%", "a", "# %% [bash]", "b" }, "")
  local messages = told(function()
    command("run")
    wait(function()
      return #fake:asked("kernel/list") == 1
    end, "the list of kernels")
    vim.wait(20)
  end)
  equal(#fake:asked("execute"), 0)
  assert(messages[1]:find("There are bash, python.", 1, true), messages[1])
  vim.bo[buffer].filetype = "python"
  command("run")
  wait(function()
    return #fake:asked("execute") == 1
  end, "the execution")
end)

it("commands: what is queued counts down", function()
  local fake = start()
  cells_of({ "# %%", "a", "# %%", "b", "# %%", "c" })
  command("all")
  wait(function()
    return #fake:asked("execute") == 3
  end, "three executions")
  local ids = vim.tbl_map(function(message)
    return message.params.executionId
  end, fake:asked("execute"))
  local session, execution_state = require("cellgate.session"), require("cellgate.execution_state")
  local function last()
    return (execution_state.describe(session.execution(ids[3])))
  end
  for i, id in ipairs(ids) do
    fake:notify("execute/changed", { executionId = id, state = i == 1 and "running" or "queued", position = i - 1 })
  end
  wait(function()
    return last() == "queued, 2 before it"
  end, last)
  fake:send({
    id = fake:asked("execute")[1].id,
    result = { executionId = ids[1], status = "ok", durationSeconds = 0, waitedSeconds = 0 },
  })
  fake:notify("execute/changed", { executionId = ids[2], state = "running" })
  wait(function()
    return vim.iter(vim.api.nvim_buf_get_extmarks(0, -1, 0, -1, { details = true })):any(function(mark)
      return mark[4].virt_text and mark[4].virt_text[1][1] == "  queued, 1 before it"
    end)
  end, last)
end)

it("commands: attach connects, log opens the log", function()
  local fake = start()
  cells_of({ "# %%", "a" })
  command("attach")
  wait(function()
    return #fake:asked("session/list") == 1
  end, "the connection")
  require("cellgate.log").write("info", "a line")
  command("log")
  equal(vim.api.nvim_buf_get_name(0), require("cellgate.log").path())
  vim.cmd.close()
end)

it("commands: completing the servers' names starts nothing", function()
  local fake = start()
  cells_of({ "# %%", "a" })
  fake.answers["toolServers/list"] = function()
    return { servers = { { name = "host" } } }
  end
  local complete = require("cellgate.commands").complete
  equal(complete("", "Cellgate generate "), {})
  equal(fake.connections, 0)
  fake.connect(require("cellgate.workspace").root(0))
  equal(complete("", "Cellgate generate "), { "host" })
end)

it("commands: where there is no folder yet, that is said", function()
  start()
  local folder = vim.fn.tempname()
  cells_of({ "# %%", "a" })
  vim.api.nvim_buf_set_name(0, folder .. "/a.py")
  package.loaded["cellgate.connection"] = nil
  local peer, problem = require("cellgate.connection").connect(folder, {})
  equal({ peer, problem }, { nil, ("there is no folder %s: write the file first, with :w ++p"):format(folder) })
end)

it("cells: an operator to the next cell leaves its marker", function()
  start()
  require("cellgate.keys").define()
  cells_of({ "# %%", "a", "b", "# %%", "c" })
  vim.keymap.set("o", "]c", "<Plug>(cellgate-next)", { buffer = true })
  vim.api.nvim_win_set_cursor(0, { 2, 0 })
  vim.cmd.normal("d]c")
  equal(vim.api.nvim_buf_get_lines(0, 0, -1, false), { "# %%", "# %%", "c" })
end)

for comment, marker in pairs({
  ["# %s"] = "# %%",
  ["%s"] = "# %%",
  ["// %s"] = "// %%",
  ["%%s"] = "% %%",
  ["% %s"] = "% %%",
  ["/*%s*/"] = "/* %% */",
  ["(* %s *)"] = "(* %% *)",
  ["<!-- %s -->"] = "<!-- %% -->",
  ['"%s'] = '" %%',
  [""] = "# %%",
}) do
  it("cells: advance makes a marker in the language's own words: " .. comment, function()
    start()
    cells_of({ "1" }, "")
    vim.bo.commentstring = comment
    for _ = 1, 2 do
      require("cellgate.run").cell(true)
    end
    -- The second time it is in the new cell, behind which there is none: one with nothing in it is run to no avail.
    equal(vim.list_slice(vim.api.nvim_buf_get_lines(0, 0, -1, false), 1, 3), { "1", "", marker })
    equal(#require("cellgate.cells").all(0), 3)
  end)
end

it("typing: keys and completion are there once the first cell is typed, and not for what is none", function()
  start()
  require("cellgate.config").set({ keys = true })
  load_plugin()
  local buffer = cells_of({ "" })
  vim.bo.omnifunc = "python3complete#Complete"
  local function has()
    return vim.iter(vim.api.nvim_buf_get_keymap(buffer, "n")):any(function(map)
      return (map.desc or ""):find("^cellgate") ~= nil
    end)
  end
  vim.api.nvim_feedkeys("ix = 1\27", "xt", false)
  vim.api.nvim_exec_autocmds("TextChanged", { buffer = buffer })
  equal(has(), false)
  vim.api.nvim_feedkeys("o# %%\27", "xt", false)
  vim.api.nvim_exec_autocmds("TextChanged", { buffer = buffer })
  equal({ has(), vim.bo.omnifunc }, { true, "v:lua.require'cellgate.complete'.omnifunc" })
  -- One that somebody chose stays.
  local other = cells_of({ "# %%" })
  vim.bo.omnifunc = "v:lua.vim.lsp.omnifunc"
  require("cellgate.open_files").look(other)
  equal(vim.bo.omnifunc, "v:lua.vim.lsp.omnifunc")
end)

it("typing: a long buffer is looked through between keys", function()
  start()
  local lines = {}
  for i = 1, 20000 do
    lines[i] = "a line of a log"
  end
  local buffer = cells_of(lines)
  local cells = require("cellgate.cells")
  local has = false
  cells.when_any(buffer, function()
    has = true
  end)
  vim.api.nvim_buf_set_lines(buffer, -1, -1, false, { "# %%" })
  cells.when_any(buffer, function()
    has = true
  end)
  equal(has, false)
  wait(function()
    return has
  end, "the last line")
end)

it("input: Escape at a password leaves the code waiting", function()
  local fake = start()
  local here = fake.connect("/tmp")
  local execution = here:execute({ code = "getpass()" })
  fake:send({
    id = "i",
    method = "input/request",
    params = { executionId = execution.id, prompt = "?", password = true },
  })
  wait(function()
    return execution.input
  end, "the question")
  local function answer(keys)
    vim.api.nvim_feedkeys(vim.keycode("<Cmd>lua require('cellgate.input').answer(nil, false)<CR>" .. keys), "xt", false)
  end
  answer("typed<Esc>")
  equal({ #fake.spy.responses, execution.input ~= nil }, { 0, true })
  answer("<CR>")
  equal(fake.spy.responses[1].result, { value = "" })
end)

it("html: where nothing opens it, the path is shown", function()
  start()
  local open = vim.ui.open
  vim.ui.open = function()
    return nil, "vim.ui.open: no handler found"
  end
  local outputs = require("cellgate.outputs").new()
  outputs:add({ output = { output_type = "display_data", data = { ["text/html"] = "<b>x</b>" } } })
  local problem = require("cellgate.html").open({ outputs = outputs })
  vim.ui.open = open
  local path = problem:match("^(/.*%.html) is the page; nothing here opens it: vim.ui.open: no handler found$")
  assert(path and vim.uv.fs_stat(path), problem)
end)

it("statusline: kernels and what waits, counted; and User events tell of both", function()
  local heard = {}
  local auto = vim.api.nvim_create_autocmd("User", {
    pattern = "Cellgate*",
    callback = function(event)
      heard[#heard + 1] = event.match .. " " .. tostring(event.data.status or event.data.waiting or event.data.state)
    end,
  })
  local fake = start()
  cells_of({ "# %%", "a" })
  local cellgate = require("cellgate")
  equal({ cellgate.statusline(), cellgate.waiting() }, { "", 0 })
  local root = require("cellgate.workspace").root(0)
  fake.connect(root)
  equal(cellgate.statusline(), "cellgate: connected")
  fake:notify("session/changed", { sessionId = "default", status = "busy" })
  fake:ask("a")
  fake:ask("b")
  wait(function()
    return cellgate.waiting() == 2
  end, "two approvals")
  equal(cellgate.statusline(), "cellgate: busy, 2 wait for you")
  fake:notify("approval/resolved", { approvalId = "a", decision = "deny" })
  wait(function()
    return cellgate.waiting() == 1
  end, "one approval")
  equal(cellgate.statusline(), "cellgate: busy, 1 waits for you")
  vim.api.nvim_del_autocmd(auto)
  equal(heard, {
    "CellgateConnection connecting",
    "CellgateConnection ready",
    "CellgateKernel busy",
    "CellgateApproval 1",
    "CellgateApproval 2",
    "CellgateApproval 1",
  })
end)

it("messages: fit their row, whatever the characters; and progress is one", function()
  local fake = start()
  fake.connect("/tmp")
  local columns = vim.o.columns
  for _, width in ipairs({ 40, 60, 80 }) do
    vim.o.columns = width
    vim.o.laststatus = 1
    for _, words in ipairs({ ("word "):rep(60), ("漢字"):rep(60) }) do
      local messages = told(function()
        fake:notify("$/progress", { token = "t", value = { kind = "report", message = words } })
        vim.wait(20)
      end)
      equal(#messages, 1)
      assert(vim.fn.strdisplaywidth(messages[1]) <= vim.v.echospace, width .. ": " .. messages[1])
    end
  end
  vim.o.columns, vim.o.laststatus = columns, 2
end)
