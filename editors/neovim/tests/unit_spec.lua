local function lines_buffer(lines, filetype)
  local buffer = vim.api.nvim_create_buf(true, false)
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, lines)
  vim.bo[buffer].filetype = filetype or "python"
  return buffer
end

-- --- rpc

local function frame(body)
  return ("Content-Length: %d\r\n\r\n%s"):format(#body, body)
end

it("rpc: messages are the same wherever their bytes are cut", function()
  local rpc = require("cellgate.rpc")
  local bodies = {
    '{"jsonrpc":"2.0","method":"a","params":{"text":"one\\r\\n\\r\\n"}}',
    '{"jsonrpc":"2.0","method":"b","params":{"text":"ünï"}}',
    '{"jsonrpc":"2.0","method":"c"}',
  }
  local bytes = table.concat(vim.tbl_map(frame, bodies))
  for cut = 1, #bytes - 1 do
    local heard = {}
    local peer = rpc.new(function() end, {
      notified = function(method, _, body)
        heard[#heard + 1] = method .. body
      end,
    })
    peer:feed(bytes:sub(1, cut))
    peer:feed(bytes:sub(cut + 1))
    wait(function()
      return #heard == 3
    end, "three messages, cut at " .. cut)
    equal(heard, { "a" .. bodies[1], "b" .. bodies[2], "c" .. bodies[3] })
  end
end)

it("rpc: a request is answered once, also when the other side goes", function()
  local rpc = require("cellgate.rpc")
  local sent, answers, closed = {}, {}, {}
  local peer = rpc.new(function(bytes)
    sent[#sent + 1] = bytes
  end, {
    closed = function(reason)
      closed[#closed + 1] = reason
    end,
  })
  for i = 1, 3 do
    peer:request("ask", { i = i }, function(problem, result)
      answers[i] = (answers[i] or "") .. (problem and problem.message or result.is)
    end)
  end
  peer:feed(frame('{"jsonrpc":"2.0","id":2,"result":{"is":"two"}}'))
  peer:feed(frame('{"jsonrpc":"2.0","id":2,"result":{"is":"again"}}'))
  peer:close("gone")
  peer:close("gone again")
  wait(function()
    return #closed > 0 and answers[1] and answers[3]
  end, "the answers")
  equal(answers, { "gone", "two", "gone" })
  equal(closed, { "gone" })
  peer:request("late", {}, function(problem)
    answers[4] = problem.message
  end)
  wait(function()
    return answers[4]
  end, "the answer to a late request")
end)

it("rpc: empty params are an object, and what is no message ends the conversation", function()
  local rpc = require("cellgate.rpc")
  local sent, reason
  local peer = rpc.new(function(bytes)
    sent = bytes
  end, {
    closed = function(why)
      reason = why
    end,
  })
  peer:request("ask", {})
  assert(sent:find('"params":{}', 1, true), sent)
  peer:feed("Content-Length: 99999999999999\r\n\r\n")
  wait(function()
    return reason
  end, "the end")
end)

it("rpc: a program that does not start is a problem, not an error", function()
  local peer, problem = require("cellgate.rpc").spawn({ "/does/not/exist" }, "/", {})
  equal(peer, nil)
  assert(problem:find("does not start", 1, true), problem)
end)

-- --- JSON as text

it("json: accepts what JSON is, and says where it is not", function()
  local json_text = require("cellgate.json_text")
  for _, good in ipairs({ "{}", ' {"a": [1, -0.5e+7, "x\\u00e9", true, null, {}]}\n', '{"a":{"b":[[]]}}' }) do
    equal({ json_text.is_object(good) }, { true })
  end
  for _, bad in ipairs({
    "",
    "[1]",
    "{",
    '{"a":01}',
    '{"a":NaN}',
    '{"a":1,}',
    '{"a":+1}',
    '{"a":0x10}',
    "{'a':1}",
    '{"a":1} {}',
    '{"a":"\1"}',
    '{"a":"\\x"}',
    '{"a":1.}',
    "{a:1}",
    '{"a":.5}',
    '{"a":nul}',
    '{"a":"}',
  }) do
    equal((json_text.is_object(bad)), false)
  end
  local _, line, problem = json_text.is_object('{\n"a": 1\n"b": 2}')
  equal({ line, problem }, { 3, "expected a comma or }" })
  equal((json_text.is_object(("["):rep(10000))), false)
end)

it("json: UTF-8 is told from what only looks like it", function()
  local json_text = require("cellgate.json_text")
  for _, good in ipairs({ "", "a", "é漢\240\159\140\178", "\194\128", "\237\159\191", "\244\143\191\191" }) do
    equal(json_text.is_utf8("{" .. good .. "}"), true)
  end
  for _, bad in ipairs({
    "\255",
    "\128",
    "\195",
    "\195(",
    "\192\175", -- a slash, overlong
    "\224\159\191",
    "\240\143\191\191",
    "\237\160\128", -- half of a pair of UTF-16
    "\244\144\128\128",
    "\248\136\128\128\128",
  }) do
    equal(json_text.is_utf8("é" .. bad .. "}"), false)
  end
end)

it("json: pretty changes blanks only, and at() finds the bytes", function()
  local json_text = require("cellgate.json_text")
  local text = '{"big":12345678901234567890,"one":1.0,"none":[],"o":{},"s":"a, b: {}","n":[1,{"x":null}]}'
  local pretty = json_text.pretty(text)
  equal(json_text.pretty(pretty), pretty)
  local function bare(s)
    return (s:gsub('"[^"]*"', function(quoted)
      return (quoted:gsub(" ", "\1"))
    end):gsub("%s", ""))
  end
  equal(bare(pretty), bare(text))
  local body = ('{"params":{"a":[{"action":1}],"action":{"other":{"arguments":2},"arguments":%s}}}'):format(text)
  equal(json_text.at(body, { "params", "action", "arguments" }), text)
  equal(json_text.at(body, { "params", "action", "none" }), nil)
  equal(json_text.at('{"a":{"b":7}}', { "a", "b" }), "7")
end)

it("rpc: with_member keeps bytes, and refuses what is more than one value", function()
  local rpc = require("cellgate.rpc")
  assert(vim.startswith(rpc.with_member({ a = 1 }, "arguments", '{"x":1.0}'), '{"arguments":{"x":1.0},'))
  equal(pcall(rpc.with_member, { a = 1 }, "arguments", '{"x":1},"decision":"allow"'), false)
end)

-- --- text that code wrote

it("text: colours become groups, and nothing else passes", function()
  local text = require("cellgate.text")
  local attributes = {}
  equal(text.spans("a\27[1;31mred\27[0m\27[38;5;200mx\27[39m", attributes), {
    { "a", {} },
    { "red", { "CellgateFg1", "Cellgate_bold" } },
    { "x", { "CellgateFg200" } },
  })
  equal(attributes, {})
  local function plain(line)
    local parts = {}
    for _, span in ipairs(text.spans(line, {})) do
      parts[#parts + 1] = span[1]
    end
    return table.concat(parts)
  end
  equal(plain("\27]0;title\7a\27]52;c;eA==\27\\b\27[2Jc\27[?25ld\27Pq#0\27\\e\27_Ga=T;x\27\\f"), "abcdef")
  equal(plain("a\27"), "a")
  equal(plain("a\27[31"), "a31")
  equal(plain("\8\0\127\1"), "^H^@^?^A")
  equal(plain("user\226\128\174txt.exe\226\129\166"), "user<U+202E>txt.exe<U+2066>")
  equal(plain("\194\155\194\173\239\187\191"), "<U+009B><U+00AD><U+FEFF>")
  equal(plain("ünïcode ✓ 漢字"), "ünïcode ✓ 漢字")
end)

it("text: code cannot make highlight groups without end", function()
  local text = require("cellgate.text")
  local before = vim.tbl_count(vim.api.nvim_get_hl(0, {}))
  for i = 0, 20000 do
    text.spans(("\27[38;2;%d;%d;%dmx"):format(i % 256, math.floor(i / 7) % 256, math.floor(i / 3) % 256), {})
    text.spans(("\27[48;5;%dmx"):format(i), {})
  end
  assert(vim.tbl_count(vim.api.nvim_get_hl(0, {})) - before < 600)
end)

it("text: a carriage return writes over", function()
  local text = require("cellgate.text")
  equal(text.after_returns("10%\r50%\r100%"), "100%")
  equal(text.after_returns("long line\rab"), "abng line")
  equal(text.after_returns("done\r"), "done")
end)

it("text: rows have the width, whatever the characters", function()
  local text = require("cellgate.text")
  for _, line in ipairs({ ("x"):rep(100), ("漢"):rep(50), "a b", "" }) do
    local joined = ""
    for i, row in ipairs(text.wrap(line, 21, "↳ ")) do
      assert(vim.fn.strdisplaywidth(row) <= 21, row)
      joined = joined .. (i == 1 and row or (row:gsub("^↳ ", "")))
    end
    equal(joined, line)
    for _, row in ipairs(text.wrap_spans({ { line, {} }, { "!", {} } }, 21)) do
      local cells = 0
      for _, span in ipairs(row) do
        cells = cells + vim.fn.strdisplaywidth(span[1])
      end
      assert(cells <= 21)
    end
  end
end)

-- --- outputs

local function stream(chunk, name)
  return { output = { output_type = "stream", name = name or "stdout", text = chunk } }
end

local function words(outputs, most)
  local lines, hidden = outputs:tail(most or 20)
  return vim.tbl_map(function(line)
    local parts = {}
    for _, span in ipairs(line.picture and { { "picture" } } or line:spans()) do
      parts[#parts + 1] = span[1]
    end
    return table.concat(parts)
  end, lines),
    hidden
end

it("outputs: the same lines wherever the text is cut", function()
  local text = "one\ntwo\nthree\n\nfive\n"
  for cut = 0, #text do
    local outputs = require("cellgate.outputs").new()
    outputs:add(stream(text:sub(1, cut)))
    outputs:add(stream(text:sub(cut + 1)))
    equal(words(outputs), { "one", "two", "three", "", "five" })
  end
end)

it("outputs: the tail is kept, and the rest counted", function()
  local outputs = require("cellgate.outputs").new()
  for i = 1, 20000, 100 do
    local chunk = {}
    for j = i, i + 99 do
      chunk[#chunk + 1] = j .. "\n"
    end
    outputs:add(stream(table.concat(chunk)))
  end
  local lines, hidden = words(outputs, 3)
  equal(lines, { "19998", "19999", "20000" })
  equal(hidden, 19997)
  local whole = {}
  for i = 1, 20000 do
    whole[i] = i .. "\n"
  end
  outputs = require("cellgate.outputs").new()
  outputs:add(stream("begin "))
  outputs:add(stream(table.concat(whole)))
  lines, hidden = words(outputs, 3)
  equal({ lines, hidden }, { { "19998", "19999", "20000" }, 19997 })
end)

it("outputs: clear_output waits, displays are updated, streams are kept apart", function()
  local outputs = require("cellgate.outputs").new()
  outputs:add(stream("a\n"))
  outputs:add(stream("b\n", "stderr"))
  outputs:add({ output = { output_type = "clear_output", wait = true } })
  equal(words(outputs), { "a", "b" })
  local display = { output_type = "display_data", data = { ["text/plain"] = "old" }, transient = { display_id = "d" } }
  outputs:add({ output = display })
  equal(words(outputs), { "old" })
  outputs:add({
    output = {
      output_type = "update_display_data",
      data = { ["text/plain"] = "new" },
      transient = { display_id = "d" },
    },
  })
  equal(words(outputs), { "new" })
  outputs:add({ output = { output_type = "clear_output", wait = false } })
  equal(words(outputs), {})
  outputs:add({ output = { output_type = "error", ename = "E", evalue = "one\ntwo", traceback = {} } })
  equal(words(outputs), { "E: one" })
end)

-- --- cells

it("cells: markers of several languages, prose left out, the first without a marker", function()
  local cells = require("cellgate.cells")
  local buffer = lines_buffer({ "x = 1", "", "# %% title", "y", "", "#%% [markdown]", "# words", "# %%", "z", "" })
  equal(
    vim.tbl_map(function(cell)
      return { cell.first, cell.code_first, cell.code_last, cell.last }
    end, cells.runnable(buffer)),
    { { 0, 0, 0, 1 }, { 2, 3, 3, 4 }, { 7, 8, 8, 9 } }
  )
  equal(#cells.all(buffer), 4)
  local has = {}
  for _, lines in ipairs({ { "x", "# %%" }, { "x = '# %%'", "y" } }) do
    cells.when_any(lines_buffer(lines), function()
      has[#has + 1] = lines[1]
    end)
  end
  equal(has, { "x" })
  equal(#cells.all(lines_buffer({ "// %%", "1", "// %%", "2" }, "javascript")), 2)
  equal(#cells.all(lines_buffer({ "# In[3]:", "1", "# In[ ]:", "2" })), 2)
end)

it("cells: fences with a language, and none without", function()
  local cells = require("cellgate.cells")
  local buffer = lines_buffer({
    "words",
    "```python",
    "a",
    "",
    "```",
    "```",
    "no",
    "```",
    "~~~ {.R}",
    "b",
    "```",
    "~~~",
    "````py",
    "```",
    "c",
    "````",
  }, "markdown")
  equal(
    vim.tbl_map(function(cell)
      return { cell.language, cell.first, cell.code_first, cell.code_last, cell.last }
    end, cells.all(buffer)),
    { { "python", 1, 2, 2, 4 }, { "r", 8, 9, 10, 11 }, { "py", 12, 13, 14, 15 } }
  )
end)

it("cells: motions and text objects", function()
  local cells = require("cellgate.cells")
  require("cellgate.keys").define()
  vim.api.nvim_set_current_buf(lines_buffer({ "# %%", "a", "b", "", "# %%", "c", "# %%", "d" }))
  local function row()
    return vim.api.nvim_win_get_cursor(0)[1]
  end
  cells.jump()
  equal(row(), 6)
  cells.jump()
  equal(row(), 8)
  cells.jump()
  equal(row(), 8)
  cells.jump(true)
  equal(row(), 6)
  vim.api.nvim_win_set_cursor(0, { 3, 0 })
  cells.jump(true)
  equal(row(), 2)
  vim.keymap.set({ "x", "o" }, "ic", "<Plug>(cellgate-inner)")
  vim.keymap.set({ "x", "o" }, "ac", "<Plug>(cellgate-around)")
  vim.api.nvim_win_set_cursor(0, { 3, 0 })
  vim.cmd.normal("yic")
  equal(vim.fn.getreg('"'), "a\nb\n")
  vim.cmd.normal("dac")
  equal(vim.api.nvim_buf_get_lines(0, 0, -1, false), { "# %%", "c", "# %%", "d" })
end)

-- --- the session, against a fake

local start = require("with_fake")

it("session: a cell is asked for with its place, and its output stands below it", function()
  local fake = start()
  local here = fake.connect("/tmp")
  local buffer = lines_buffer({ "# %%", "1 + 1" })
  vim.api.nvim_set_current_buf(buffer)
  local execution = here:execute({ code = "1 + 1\n", cell = { uri = "untitled:1", line = 1 } })
  require("cellgate.render").place(execution, buffer, 0, 1, 1)
  wait(function()
    return #fake:asked("execute") == 1
  end, "execute")
  local asked = fake:asked("execute")[1]
  equal(asked.params, { executionId = execution.id, code = "1 + 1\n", cell = { uri = "untitled:1", line = 1 } })
  fake:notify("execute/changed", { executionId = execution.id, state = "running" })
  fake:notify("execute/output", {
    executionId = execution.id,
    seq = 0,
    count = 1,
    output = { output_type = "execute_result", data = { ["text/plain"] = "2" }, execution_count = 1, metadata = {} },
  })
  fake:send({
    id = asked.id,
    result = {
      executionId = execution.id,
      status = "ok",
      executionCount = 1,
      durationSeconds = 0.1,
      waitedSeconds = 0,
      layers = {},
      outputBytes = 1,
      truncated = false,
    },
  })
  local namespace = vim.api.nvim_get_namespaces().cellgate
  local function shown()
    local all = ""
    for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(buffer, namespace, 0, -1, { details = true })) do
      for _, row in ipairs(mark[4].virt_lines or { mark[4].virt_text or {} }) do
        for _, chunk in ipairs(row) do
          all = all .. chunk[1]
        end
      end
    end
    return all
  end
  wait(function()
    return shown() == "  [1] ok 0.1 s2"
  end, shown)
end)

-- A cell whose output is a word and a picture; what stands below it.
local function with_picture(bytes)
  local fake = start()
  local here = fake.connect("/tmp")
  local buffer = lines_buffer({ "# %%", "show()" })
  vim.api.nvim_set_current_buf(buffer)
  local execution = here:execute({ code = "show()\n", cell = { uri = "untitled:1", line = 1 } })
  require("cellgate.render").place(execution, buffer, 0, 1, 1)
  for seq, output in ipairs({
    { output_type = "stream", name = "stdout", text = "before\n" },
    { output_type = "display_data", data = { ["image/png"] = vim.base64.encode(bytes) }, metadata = {} },
  }) do
    fake:notify("execute/output", { executionId = execution.id, seq = seq - 1, count = 1, output = output })
  end
  local function rows()
    local namespace = vim.api.nvim_get_namespaces().cellgate
    for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(buffer, namespace, 0, -1, { details = true })) do
      if mark[4].virt_lines and #mark[4].virt_lines > 1 then
        return vim.tbl_map(function(row)
          return row[1][1]
        end, mark[4].virt_lines)
      end
    end
  end
  wait(rows, "a word and a picture")
  return buffer, rows()
end

local png = "\137PNG\r\n\26\n" .. ("\0"):rep(16)

local function stand_in_for_image_nvim(calls)
  return {
    from_file = function(_, options)
      table.insert(calls, options)
      return {
        image_width = 300,
        image_height = 80,
        render = function()
          table.insert(calls, "render")
        end,
        clear = function()
          table.insert(calls, "clear")
        end,
      }
    end,
  }
end

it("images: image.nvim draws into rows that are left free for it", function()
  local calls = {}
  package.loaded.image = stand_in_for_image_nvim(calls)
  local buffer, rows = with_picture(png)
  equal(rows, { "before", "", "", "", "" })
  local options = { inline = true, x = 0, y = 1, width = 30, height = 4, render_offset_top = 1 }
  options.buffer, options.window = buffer, vim.fn.bufwinid(buffer)
  equal(calls, { options, "render" })
  require("cellgate.render").clear(buffer)
  equal(calls[3], "clear")
  package.loaded.image = nil
end)

it("images: what only calls itself a picture is given to no plugin", function()
  local calls = {}
  package.loaded.image = stand_in_for_image_nvim(calls)
  local _, rows = with_picture("push graphic-context")
  assert(vim.startswith(rows[2], "picture: "), vim.inspect(rows))
  equal(calls, {})
  package.loaded.image = nil
end)

it("images: where image.nvim was not set up, there is the path", function()
  package.loaded.image = { from_file = error }
  local _, rows = with_picture(png)
  assert(vim.startswith(rows[2], "picture: "), vim.inspect(rows))
  package.loaded.image = nil
end)

local function stand_in_for_snacks(calls, terminal)
  return {
    image = {
      supports = function()
        return terminal.supported
      end,
      terminal = {
        env = function()
          return terminal
        end,
      },
      placement = {
        new = function(buffer, path, options)
          table.insert(calls, { buffer, vim.fn.fnamemodify(path, ":e"), options.pos, options.inline })
          return {
            close = function()
              table.insert(calls, "close")
            end,
          }
        end,
      },
    },
  }
end

it("images: snacks.nvim draws below the cell", function()
  local calls = {}
  package.loaded.snacks = stand_in_for_snacks(calls, { supported = true, placeholders = true })
  local buffer, rows = with_picture(png)
  assert(vim.startswith(rows[2], "picture: "), vim.inspect(rows))
  equal(calls, { { buffer, "png", { 2, 0 }, true } })
  require("cellgate.render").clear(buffer)
  equal(calls[2], "close")
  package.loaded.snacks = nil
end)

for what, terminal in pairs({
  ["no pictures"] = { supported = false, placeholders = false },
  ["no pictures among text"] = { supported = true, placeholders = false },
}) do
  it("images: where snacks.nvim knows of " .. what .. ", there is the path", function()
    local calls = {}
    package.loaded.snacks = stand_in_for_snacks(calls, terminal)
    local _, rows = with_picture(png)
    assert(vim.startswith(rows[2], "picture: "), vim.inspect(rows))
    equal(calls, {})
    package.loaded.snacks = nil
  end)
end

it("notes: the command does what the note of its number offers, and nothing else does", function()
  local fake = start()
  fake.connect("/tmp")
  local notes = require("cellgate.notes")
  local rule = { effect = "allow", kind = "network", host = "a.example:443" }
  local refused = { text = "a.example:443 was refused", remedy = "add a rule for it", rule = rule }
  local hidden = {
    text = "/data is not shown",
    remedy = "allow reading /data: restarts the kernel",
    sandbox = { allowRead = { "/data" } },
  }
  local advice = { text = "/etc/x cannot be made", remedy = "make it outside of the sandbox" }
  local function with(...)
    return { root = "/tmp", session = "R", result = { notes = { ... } } }
  end
  local all = with(refused, hidden, advice)
  equal(notes.lines(all), {
    "a.example:443 was refused: add a rule for it; :Cellgate remedy 1 does it",
    "/data is not shown: allow reading /data: restarts the kernel; :Cellgate remedy 2 does it",
    "/etc/x cannot be made: make it outside of the sandbox",
  })
  equal(notes.lines(with(hidden)), {
    "/data is not shown: allow reading /data: restarts the kernel; :Cellgate remedy does it",
  })
  equal(notes.remedy(all), "this cell has 3 notes: :Cellgate remedy 1")
  equal(notes.remedy(all, 4), "this cell has no such note")
  equal(notes.remedy(all, 3), "no command does that: make it outside of the sandbox")
  equal(notes.remedy({ root = "/tmp", session = "R" }), "this cell has no such note")
  equal({ fake:asked("policy/add"), fake:asked("session/restart") }, { {}, {} })
  equal(notes.remedy(all, 1), nil)
  equal(fake:asked("policy/add")[1].params, { rule = rule, scope = "session", sessionId = "R" })
  equal(notes.remedy(with(hidden)), nil)
  equal(fake:asked("session/restart")[1].params, { sessionId = "R", sandbox = { allowRead = { "/data" } } })
end)

it("session: it restarts a connection that ends, later each time, and gives up", function()
  start()
  local connection = require("cellgate.connection")
  equal(vim.tbl_map(connection.restart_delay, { 1, 2, 3, 4 }), { 100, 1000, 2000, 4000 })
  connection.restart_delay = function()
    return 0
  end
  local starts = 0
  local connect = connection.connect
  connection.connect = function(...)
    starts = starts + 1
    local peer = connect(...)
    vim.schedule(function()
      peer:close("it crashed")
    end)
    return peer
  end
  local here = require("cellgate.session").of("/tmp")
  wait(function()
    return here.connection.state == "stopped"
  end, function()
    return "the end after " .. starts .. " starts; it is " .. here.connection.state
  end)
  equal(starts, 6)
end)

it("session: records that come while the journal is read are not doubled and not lost", function()
  local fake = start()
  fake.answers["session/list"] = function()
    return { sessions = { { sessionId = "default" } } }
  end
  fake.answers["session/attach"] = function()
    return {
      session = { sessionId = "default", status = "busy" },
      executions = { { executionId = "x", state = "running", nextSeq = 2 } },
    }
  end
  fake.answers["execution/get"] = function()
    return { executionId = "x", sessionId = "default", state = "running", code = "?" }
  end
  local here = fake.connect("/tmp")
  wait(function()
    return #fake:asked("output/read") == 1
  end, "reading of the journal")
  fake:notify("execute/output", vim.tbl_extend("error", { executionId = "x", seq = 2, count = 1 }, stream("c\n")))
  local records = {}
  for i, line in ipairs({ "a\n", "b\n", "c\n" }) do
    records[i] = vim.tbl_extend("error", { seq = i - 1, count = 1 }, stream(line))
  end
  wait(function()
    return here.executions.x and here.executions.x.next_seq == 3
  end, "the record")
  fake:send({
    id = fake:asked("output/read")[1].id,
    result = { records = records, nextSeq = 3, complete = false, droppedBytes = 0 },
  })
  wait(function()
    return not here.executions.x.held
  end, "the end of reading")
  equal(words(here.executions.x.outputs), { "a", "b", "c" })
end)

it("session: of what ended before, only what has a place is read from the journal", function()
  local fake = start()
  fake.answers["session/list"] = function()
    return { sessions = { { sessionId = "default" } } }
  end
  local buffer = lines_buffer({ "# %%", "print(1)" })
  vim.api.nvim_buf_set_name(buffer, "/tmp/cellgate-spec.py")
  local cell = { uri = "file:///tmp/cellgate-spec.py", line = 1 }
  fake.answers["session/attach"] = function()
    return {
      session = { sessionId = "default", status = "idle" },
      executions = {
        { executionId = "first", state = "finished", nextSeq = 1, cell = cell },
        { executionId = "elsewhere", state = "finished", nextSeq = 1, cell = { uri = "file:///tmp/x.py", line = 0 } },
        { executionId = "again", state = "finished", nextSeq = 1, cell = cell },
      },
    }
  end
  fake.answers["execution/get"] = function(params)
    return { executionId = params.executionId, sessionId = "default", state = "finished", code = "print(1)\n" }
  end
  fake.answers["output/read"] = function()
    return { records = { vim.tbl_extend("error", { seq = 0, count = 1 }, stream("1\n")) }, nextSeq = 1, complete = true }
  end
  local here = fake.connect("/tmp")
  wait(function()
    return here.executions.again and #words(here.executions.again.outputs) == 1
  end, "the output")
  equal(
    vim.tbl_map(function(message)
      return message.params.executionId
    end, fake:asked("output/read")),
    { "again" }
  )
end)

it("input: the code's question waits until the person answers it, and once", function()
  local fake = start()
  local here = fake.connect("/tmp")
  local execution = here:execute({ code = "input()" })
  fake:send({
    id = "i",
    method = "input/request",
    params = { executionId = execution.id, prompt = "?", password = false },
  })
  wait(function()
    return execution.input
  end, "the question")
  vim.ui.input = function(_, done)
    done("typed")
  end
  equal(require("cellgate.input").answer(nil, false), nil)
  wait(function()
    return #fake.spy.responses == 1
  end, "the answer")
  equal(fake.spy.responses[1].result, { value = "typed" })
  equal(require("cellgate.input").answer(nil, false), "no code reads a line")
end)

-- --- settings and help

it("config: what is not there, or of the wrong type, is an error", function()
  local config = require("cellgate.config")
  equal(pcall(config.set, { progam = "x" }), false)
  equal(pcall(config.set, { output_lines = "many" }), false)
  config.set({ output_lines = 3 })
  equal(config.values.output_lines, 3)
  config.set({})
  equal(config.values.output_lines, 20)
end)

it("help: is what the tables of settings, commands, maps and events say", function()
  local help = io.open(vim.api.nvim_get_runtime_file("doc/cellgate.txt", false)[1]):read("a")
  equal(help, require("help").text())
end)

it("readme: its settings are those that there are", function()
  local plugin = vim.fn.fnamemodify(vim.api.nvim_get_runtime_file("doc/cellgate.txt", false)[1], ":h:h")
  local readme = io.open(plugin .. "/../../README.md"):read("a")
  assert(readme:find(require("help").readme_table(), 1, true), "nvim -l tests/help.lua writes them")
end)

it("help: its tags are there once each", function()
  local folder = vim.fn.tempname()
  vim.fn.mkdir(folder)
  vim.uv.fs_copyfile(vim.api.nvim_get_runtime_file("doc/cellgate.txt", false)[1], folder .. "/cellgate.txt")
  vim.cmd.helptags(folder)
  local tags = vim.fn.readfile(folder .. "/tags")
  assert(vim.tbl_contains(
    vim.tbl_map(function(line)
      return line:match("^%S+")
    end, tags),
    ":Cellgate-approvals"
  ))
  for reference in require("help").text():gmatch("|(cellgate[%w-]*)|") do
    assert(
      vim.iter(tags):any(function(line)
        return vim.startswith(line, reference .. "\t")
      end),
      reference
    )
  end
end)
