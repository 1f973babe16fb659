-- The windows in which approvals are seen and answered, on screens of several sizes, with all keys of the reader.
local asking = require("asking")
local start, ask, answers, see, type_keys = asking.start, asking.ask, asking.answers, asking.see, asking.type_keys
local turn, display, pass, screen = asking.turn, asking.display, asking.pass, asking.screen

-- As the sidecar offers them for a tool that reads files.
local five_choices = {
  { label = "this call", scope = "once" },
  { label = "exactly this call, while the cell runs", scope = "execution" },
  {
    label = "read_file with path under the root, its other arguments free, in this session",
    scope = "session",
    rule = { effect = "allow", kind = "tool" },
  },
  { label = "any read_file of host, in this session", scope = "session", rule = { effect = "allow", kind = "tool" } },
  {
    label = "any read_file of host, in this workspace",
    scope = "workspace",
    rule = { effect = "allow", kind = "tool" },
  },
}

-- The command, which Neovim has from the plugin's start.
vim.g.loaded_cellgate = nil
vim.cmd.runtime("plugin/cellgate.lua")

local function resize(columns, lines)
  vim.o.columns, vim.o.lines = columns, lines
  turn()
  turn()
end

local function enter()
  require("cellgate.approval_windows").enter()
end

-- The window in which something of the plugin stands, and what.
local function window_of(filetype)
  for _, window in ipairs(vim.api.nvim_list_wins()) do
    local buffer = vim.api.nvim_win_get_buf(window)
    if vim.bo[buffer].filetype == filetype then
      return window, table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), "\n")
    end
  end
end

local function footer()
  turn()
  require("cellgate.approval_reader").refresh()
  local _, words = window_of("cellgate-choices")
  return words and words:gsub("%s+", " ")
end

local function is_shown(words)
  return table.concat(screen(), "\n"):find(words, 1, true) ~= nil
end

-- The rows that a window takes, with its border.
local function extent(filetype)
  local window = assert((window_of(filetype)))
  local top = vim.api.nvim_win_get_position(window)[1]
  return top, top + vim.api.nvim_win_get_height(window) + 2
end

for _, size in ipairs({ { 100, 40 }, { 80, 24 }, { 40, 24 }, { 40, 18 }, { 80, 12 }, { 40, 14 }, { 40, 10 } }) do
  local columns, lines = unpack(size)

  it(("reader: at %dx%d no key answers with what was not on the screen"):format(columns, lines), function()
    local fake = start()
    resize(columns, lines)
    ask(fake, "a", { display = display(12), choices = five_choices })
    see(600)
    enter()
    local seen = {}
    local function look()
      -- Their numbers stand at the begin of a row.
      for _, row in ipairs(screen()) do
        local number = row:match("│(%d)  ")
        seen[tonumber(number) or 0] = true
      end
      return not vim.tbl_contains({ seen[1] or false, seen[2] or false, seen[3] or false, seen[4] or false }, false)
        and seen[5]
    end
    for _ = 1, 40 do
      local all_seen = look()
      see(600)
      local says_so = footer():find("everything was shown", 1, true) ~= nil
      assert(all_seen or not says_so, "the footer says that all was shown, and it was not:\n" .. footer())
      -- One above the other would hide rows that count as shown.
      local _, bottom = extent("cellgate-approval")
      local top, end_row = extent("cellgate-choices")
      assert(bottom <= top and end_row <= vim.o.lines - vim.o.cmdheight, vim.inspect({ bottom, top, end_row }))
      if says_so then
        break
      end
      type_keys("5")
      equal(answers(fake), {})
      see(600)
      type_keys("<C-e>")
    end
    assert(look(), vim.inspect(seen))
    see(600)
    type_keys("5")
    equal(#answers(fake), 1)
    equal(answers(fake)[1].scope, "workspace")
  end)
end

it("reader: on a screen without room for anything no key allows", function()
  local fake = start()
  ask(fake, "a", { choices = five_choices })
  resize(20, 6)
  enter()
  for _ = 1, 5 do
    see(600)
    type_keys("1")
  end
  equal(answers(fake), {})
  resize(100, 40)
  see(600)
  see(600)
  type_keys("1")
  equal(#answers(fake), 1)
end)

it("reader: its footer and its keys agree about what the preview has shown", function()
  local fake = start()
  resize(80, 24)
  ask(fake, "a", { display = display(10), choices = five_choices })
  see(600)
  enter()
  see(600)
  local words = footer()
  assert(words:find("everything was shown", 1, true), words)
  type_keys("5")
  equal(#answers(fake), 1)
end)

it("reader: rows that a screen which became smaller cuts off do not count", function()
  local fake = start()
  require("cellgate.config").values.preview = false
  ask(fake, "a", { display = { "tool read of fs", ("x"):rep(90) } })
  enter()
  -- Drawn before the plugin could hear of it.
  vim.o.columns = 60
  vim.cmd.redraw()
  local approvals, waiting = require("cellgate.approvals"), require("cellgate.session").waiting()
  assert(approvals.not_displayed(waiting, {}))
  turn()
  vim.cmd.redraw()
  equal(approvals.not_displayed(waiting, {}), nil)
end)

it("reader: a window that a person made smaller or larger is put right, and read anew", function()
  local fake = start()
  ask(fake, "a", { display = display(100) })
  enter()
  see(600)
  local window = window_of("cellgate-approval")
  local height = vim.api.nvim_win_get_height(window)
  type_keys("<C-w>_")
  require("cellgate.approval_reader").refresh()
  equal(vim.api.nvim_win_get_height(window), height)
end)

-- --- the keys that M.help names

it("reader: every key of its help is there", function()
  local fake = start()
  ask(fake, "a")
  enter()
  local keys = {}
  for _, map in ipairs(vim.api.nvim_buf_get_keymap(0, "n")) do
    keys[map.lhs] = true
  end
  local named = {}
  for _, line in ipairs(require("cellgate.approval_reader").help) do
    for word in line:gmatch("%S+") do
      if #word == 1 and keys[word] then
        named[word] = true
      end
    end
  end
  for key in pairs(keys) do
    assert(named[key] or key:find("^[1-9]$") or key == "<Esc>", key)
  end
  equal(vim.tbl_count(named), #vim.split("d D e x r ] [ w o q ?", " "))
end)

it("reader: ? shows the keys, which answer nothing then, and goes back", function()
  local fake = start()
  ask(fake, "a")
  enter()
  see(600)
  type_keys("?")
  assert(is_shown("deny, and say why: the code is told"))
  for _, key in ipairs({ "1", "d", "D", "e", "x", "w", "o" }) do
    see(600)
    type_keys(key)
    assert(footer():find("? goes back to the question", 1, true), key)
  end
  equal(answers(fake), {})
  type_keys("?")
  assert(is_shown("this call"))
  type_keys("1")
  equal(answers(fake), {})
  see(600)
  type_keys("1")
  equal(#answers(fake), 1)
end)

it("reader: x sets the call at the cursor apart, which is shown by itself", function()
  local fake = start()
  -- An older one of another kind, which would come before it.
  ask(fake, "other", { choices = five_choices })
  for i = 1, 3 do
    ask(fake, "a" .. i)
  end
  enter()
  see(600)
  type_keys("]")
  vim.fn.search("a2")
  type_keys("x")
  see(600)
  type_keys("1")
  equal(answers(fake)[1].approvalIds, { "a2" })
end)

it("reader: r takes in what came since", function()
  local fake = start()
  ask(fake, "a")
  enter()
  see(600)
  ask(fake, "b")
  assert(footer():find("1 more came: r", 1, true), footer())
  type_keys("r")
  see(600)
  type_keys("1")
  equal(answers(fake)[1].approvalIds, { "a", "b" })
end)

it("reader: ] and [ go round the groups", function()
  local fake = start()
  ask(fake, "a")
  ask(fake, "b", { choices = { { label = "this call", scope = "once" } } })
  enter()
  assert(is_shown('path: "a"'), table.concat(screen(), "\n"))
  type_keys("]")
  assert(is_shown('path: "b"') and not is_shown('path: "a"'), table.concat(screen(), "\n"))
  type_keys("]")
  assert(is_shown('path: "a"'))
  type_keys("[")
  assert(is_shown('path: "b"'))
end)

it("reader: w tells why it is asked", function()
  local fake = start()
  ask(fake, "a")
  enter()
  local told
  vim.notify = function(words)
    told = words
  end
  type_keys("w")
  vim.notify = function() end
  assert(told and told:find("ask: no rule", 1, true), told)
end)

it("reader: o goes to the line that asks, and stays where that is not open", function()
  local fake = start()
  vim.cmd.edit(vim.fn.tempname() .. ".py")
  vim.api.nvim_buf_set_lines(0, 0, -1, false, { "one", "two", "three" })
  local buffer = vim.api.nvim_get_current_buf()
  local uri = require("cellgate.workspace").uri(buffer)
  ask(fake, "gone", { origin = { uri = "file:///nowhere.py", line = 1, text = "x" } })
  enter()
  type_keys("o")
  assert(footer():find("not open here", 1, true), footer())
  type_keys("q")
  fake:notify("approval/resolved", { approvalId = "gone", decision = "deny", by = "person" })
  turn()
  ask(fake, "a", { origin = { uri = uri, line = 1, text = "two" } })
  enter()
  type_keys("o")
  equal(vim.api.nvim_get_current_buf(), buffer)
  equal(vim.api.nvim_win_get_cursor(0), { 2, 0 })
  equal(answers(fake), {})
end)

it("reader: q and Esc leave, and everything goes on waiting", function()
  local fake = start()
  ask(fake, "a")
  for _, key in ipairs({ "q", "<Esc>" }) do
    enter()
    see(600)
    type_keys(key)
    equal(window_of("cellgate-approval"), nil)
    assert(window_of("cellgate-preview"))
  end
  equal(answers(fake), {})
end)

it("reader: nothing of it goes on when it was left", function()
  local fake = start()
  ask(fake, "a")
  local made = {}
  local new_timer = vim.uv.new_timer
  vim.uv.new_timer = function() -- luacheck: ignore
    made[#made + 1] = new_timer()
    return made[#made]
  end
  local function timers()
    return #vim.tbl_filter(function(timer)
      return not timer:is_closing() and timer:is_active() and timer:get_repeat() == 250
    end, made)
  end
  equal(timers(), 0)
  enter()
  equal(timers(), 1)
  type_keys("q")
  vim.uv.new_timer = new_timer -- luacheck: ignore
  equal(timers(), 0)
end)

-- --- the reason

local function ask_reason(fake)
  ask(fake, "a")
  enter()
  see(600)
  type_keys("D")
  return assert(window_of("cellgate-reason"))
end

it("reason: what is typed is told, all lines of it", function()
  local fake = start()
  ask_reason(fake)
  vim.api.nvim_put({ "not", "today" }, "c", false, true)
  type_keys("<CR>")
  equal(answers(fake), { { approvalIds = { "a" }, decision = "deny", reason = "not\ntoday" } })
end)

it("reason: a window that was left is gone, and its Enter with it", function()
  local fake = start()
  ask_reason(fake)
  type_keys("<C-w>w")
  turn()
  equal(window_of("cellgate-reason"), nil)
  equal(answers(fake), {})
end)

it("reason: what its keys do stands there on a narrow screen too", function()
  local fake = start()
  resize(40, 24)
  ask_reason(fake)
  assert(is_shown("Enter denies, Esc Esc goes back"), table.concat(screen(), "\n"))
  vim.cmd.stopinsert()
  type_keys("<Esc>")
  assert(window_of("cellgate-approval"))
  equal(answers(fake), {})
end)

-- --- other arguments

local function edit(fake, more)
  ask(fake, "a", vim.tbl_deep_extend("force", { action = { arguments = { path = "x" } } }, more or {}))
  enter()
  see(600)
  type_keys("e")
  see(600)
end

it("edit: not before all that is asked was shown", function()
  local fake = start()
  edit(fake, { display = display(200) })
  equal(vim.bo.filetype, "cellgate-approval")
  assert(footer():find("not yet shown to its end", 1, true), footer())
  for _ = 1, 20 do
    see(600)
    type_keys("<C-d>")
  end
  see(600)
  type_keys("e")
  assert(vim.api.nvim_buf_get_name(0):find("cellgate://edit/", 1, true))
  see(600)
  type_keys(":w<CR>")
  equal(#answers(fake), 1)
end)

it("edit: :w answers only half a second after the arguments were opened", function()
  local fake = start()
  ask(fake, "a", { action = { arguments = { path = "x" } } })
  enter()
  see(600)
  type_keys("e")
  see(499)
  type_keys(":w<CR>")
  equal(answers(fake), {})
  pass(2)
  type_keys(":w<CR>")
  equal(#answers(fake), 1)
end)

it("edit: what writes a copy, or a part, answers nothing and writes nothing", function()
  local fake = start()
  edit(fake)
  local copy = vim.fn.tempname()
  vim.api.nvim_buf_set_lines(0, 0, -1, false, { "{", "}" })
  for _, command in ipairs({
    ":w " .. copy,
    ":w! " .. copy,
    ":1,2w",
    ":1w!",
    ":w %",
    ":w >>" .. copy,
    ":silent! wall",
  }) do
    vim.api.nvim_feedkeys(vim.keycode(command .. (command:find("^:") and "<CR>" or "")), "xt", false)
    turn()
  end
  equal(answers(fake), {})
  equal(vim.uv.fs_stat(copy), nil)
  type_keys(":w!<CR>")
  equal(#answers(fake), 1)
end)

it("edit: a second one of the same call finds what was written, and none is left behind", function()
  local fake = start()
  edit(fake)
  local buffer = vim.api.nvim_get_current_buf()
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, { '{"path": "mine"}' })
  local count = #vim.api.nvim_list_bufs()
  type_keys("<C-w>p")
  enter()
  see(600)
  type_keys("e")
  equal(vim.api.nvim_get_current_buf(), buffer)
  equal(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), { '{"path": "mine"}' })
  equal(#vim.api.nvim_list_bufs(), count)
  type_keys(":q!<CR>")
  turn()
  assert(window_of("cellgate-preview"), "the preview is shown again")
end)

it("edit: a window that cannot be opened leaves nothing behind, and the question comes back", function()
  local fake = start()
  local open_win, count = vim.api.nvim_open_win, #vim.api.nvim_list_bufs()
  ask(fake, "a", { action = { arguments = { path = "x" } } })
  enter()
  see(600)
  vim.api.nvim_open_win = function(buffer, entered, how) -- luacheck: ignore
    assert(not how.split, "E36: Not enough room")
    return open_win(buffer, entered, how)
  end
  type_keys("e")
  vim.api.nvim_open_win = open_win -- luacheck: ignore
  assert(footer():find("E36: Not enough room", 1, true), footer())
  type_keys("q")
  assert(window_of("cellgate-preview"))
  -- And that of the preview.
  equal(#vim.api.nvim_list_bufs(), count + 1)
end)

it("edit: what cannot be seen in the arguments is written as JSON writes it", function()
  local fake = start()
  fake:ask("a", { action = { arguments = { path = "a\226\128\174b\243\160\129\129c\127 é" } } })
  wait(function()
    return #require("cellgate.session").waiting() == 1
  end, "the approval")
  turn()
  enter()
  see(600)
  type_keys("e")
  equal(vim.api.nvim_buf_get_lines(0, 1, 2, false), { '  "path": "a\\u202eb\\udb40\\udc41c\\u007f é"' })
end)

-- --- by tag

it("tag: a choice that was never shown is not granted", function()
  local fake = start()
  ask(fake, "a", { choices = five_choices })
  local tag = require("cellgate.session").waiting()[1].tag
  local told
  vim.notify = function(words)
    told = words
  end
  see(600)
  for _, words in ipairs({ "2", "5", "foo", "1x", "0", "-1", "1.0", "1e0", "0x1", "1 2" }) do
    told = nil
    vim.cmd(("Cellgate allow %s %s"):format(tag, words))
    assert(told, words)
  end
  equal(answers(fake), {})
  enter()
  see(600)
  type_keys("q")
  vim.cmd(("Cellgate allow %s 2"):format(tag))
  vim.notify = function() end
  equal(answers(fake)[1].scope, "execution")
end)

it("tag: without a number it is the call alone, wherever that stands among the choices", function()
  local fake = start()
  ask(fake, "a", { choices = { five_choices[5], five_choices[1] } })
  see(600)
  vim.cmd("Cellgate allow #" .. require("cellgate.session").waiting()[1].tag)
  equal(answers(fake), { { approvalIds = { "a" }, decision = "allow", scope = "once" } })
end)

it("tag: deny tells the reason, and not while things change", function()
  local fake = start()
  ask(fake, "a")
  local tag = require("cellgate.session").waiting()[1].tag
  pass(499)
  vim.cmd(("Cellgate deny %s"):format(tag))
  equal(answers(fake), {})
  pass(2)
  vim.cmd(("Cellgate deny %s not today"):format(tag))
  equal(answers(fake), { { approvalIds = { "a" }, decision = "deny", reason = "not today" } })
end)

-- --- the preview and the marks

it("preview: the cursor is never under it", function()
  local fake = start()
  vim.api.nvim_buf_set_lines(0, 0, -1, false, display(60))
  for _, size in ipairs({ { 100, 40 }, { 90, 24 }, { 90, 16 }, { 40, 14 } }) do
    resize(unpack(size))
    if #require("cellgate.session").waiting() == 0 then
      ask(fake, "a", { display = display(30) })
    end
    for line = 1, 60 do
      vim.api.nvim_win_set_cursor(0, { line, 0 })
      vim.cmd.redraw()
      vim.cmd("doautocmd CursorMoved")
      turn()
      local top, bottom = extent("cellgate-preview")
      local row = vim.fn.screenpos(0, line, 1).row - 1
      assert(row < top or row >= bottom, vim.inspect({ size, line, row, top, bottom }))
    end
  end
end)

it("marks: a sign and words stand at the line that asks, and go with the question", function()
  local fake = start()
  vim.cmd.edit(vim.fn.tempname() .. ".py")
  vim.api.nvim_buf_set_lines(0, 0, -1, false, { "one", "two", "three" })
  local uri = require("cellgate.workspace").uri(0)
  local namespace = vim.api.nvim_create_namespace("cellgate.approvals")
  local function marks()
    return vim.tbl_map(function(mark)
      return { mark[2], vim.trim(mark[4].sign_text), mark[4].virt_text[1][1] }
    end, vim.api.nvim_buf_get_extmarks(0, namespace, 0, -1, { details = true }))
  end
  ask(fake, "a", { origin = { uri = uri, line = 1, text = "two" } })
  local tag = require("cellgate.session").waiting()[1].tag
  equal(marks(), { { 1, "?", ("  asks #%s: tool read of fs"):format(tag) } })
  ask(fake, "b", { origin = { uri = uri, line = 1, text = "two" } })
  equal(marks(), { { 1, "?", ("  asks #%s: 2 calls"):format(tag) } })
  for _, id in ipairs({ "a", "b" }) do
    fake:notify("approval/resolved", { approvalId = id, decision = "deny", by = "person" })
  end
  wait(function()
    return #require("cellgate.session").waiting() == 0
  end, "the end of both")
  turn()
  equal(marks(), {})
end)
