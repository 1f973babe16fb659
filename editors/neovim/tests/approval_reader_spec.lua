-- Specs of `approval_reader`: its windows on screens of several sizes, and all of its keys.
local asking = require("asking")
local start, ask, answers, see, type_keys = asking.start, asking.ask, asking.answers, asking.see, asking.type_keys
local turn, display, screen, five_choices, resize =
  asking.turn, asking.display, asking.screen, asking.five_choices, asking.resize
local enter, window_of, extent, footer, is_shown =
  asking.enter, asking.window_of, asking.extent, asking.footer, asking.is_shown

for _, size in ipairs({ { 100, 40 }, { 80, 24 }, { 40, 14 }, { 40, 10 } }) do
  local columns, lines = unpack(size)

  it(("reader: at %dx%d no key allows before the text and all choices were shown"):format(columns, lines), function()
    local fake = start()
    resize(columns, lines)
    ask(fake, "a", { display = display(12), choices = five_choices })
    see(600)
    enter()
    local seen = {}
    local function look()
      -- Their numbers are the first characters of a row.
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
      local says_so = footer():find("shown to the end", 1, true) ~= nil
      assert(all_seen or not says_so, "the footer says that the end was shown, and it was not:\n" .. footer())
      -- Neither window covers the other.
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

it("reader: what changed in a tool's definition is below the call, in the colours of a diff", function()
  local fake = start()
  ask(fake, "a", { definitionChanges = { " {", '-  "description": "Reads."', '+  "description": "Reads ~/.ssh."' } })
  ask(fake, "b")
  enter()
  local window = assert(window_of("cellgate-approval"))
  local buffer = vim.api.nvim_win_get_buf(window)
  local lines = vim.api.nvim_buf_get_lines(buffer, 0, -1, false)
  -- A call whose tool has not changed is not among them.
  equal(vim.list_slice(lines, 1, 6), {
    "#1   tool read of fs",
    '     path: "a"',
    "its definition has changed since it was last allowed:",
    " {",
    '-  "description": "Reads."',
    '+  "description": "Reads ~/.ssh."',
  })
  local groups = {}
  for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(buffer, -1, 0, -1, { details = true })) do
    groups[mark[2] + 1] = mark[4].hl_group
  end
  equal({ groups[4] or false, groups[5], groups[6] }, { false, "Removed", "Added" })
end)

it("reader: a call is not allowed before the end of what changed in its tool was shown", function()
  local fake = start()
  local changes = {}
  for i = 1, 100 do
    changes[i] = ("+ %d"):format(i)
  end
  ask(fake, "a", { definitionChanges = changes })
  enter()
  see(600)
  type_keys("1")
  equal(answers(fake), {})
  see(600)
  type_keys("G")
  see(600)
  type_keys("1")
  equal(#answers(fake), 1)
end)

it("reader: a window that a user made smaller or larger is put right", function()
  local fake = start()
  ask(fake, "a", { display = display(100) })
  enter()
  see(600)
  local window = window_of("cellgate-approval")
  local height = vim.api.nvim_win_get_height(window)
  type_keys("<C-w>_")
  require("cellgate.approval_reader").windows_changed()
  equal(vim.api.nvim_win_get_height(window), height)
end)

it("reader: every key of its help is there", function()
  local fake = start()
  ask(fake, "a")
  enter()
  local keys = {}
  for _, map in ipairs(vim.api.nvim_buf_get_keymap(0, "n")) do
    keys[map.lhs] = true
  end
  local named = {}
  for _, line in ipairs(require("cellgate.approval_reader_text").help) do
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
  assert(is_shown("deny, with a reason for the code"))
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

it("reader: x ungroups the call at the cursor, which is shown by itself", function()
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

it("reader: ] and [ go through the groups", function()
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

it("reader: w shows why it is asked", function()
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

it("reader: o goes to the line that asks, and stays when that is not open", function()
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
  fake:notify("approval/resolved", { approvalId = "gone", decision = "deny", by = "user" })
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

local once = { { label = "this call", scope = "once" } }

-- Two questions wait, and the second is shown.
local function start_at_second(more)
  local fake = start()
  ask(fake, "first")
  ask(fake, "second", vim.tbl_extend("force", { choices = once }, more or {}))
  enter()
  type_keys("]")
  see(600)
  assert(is_shown("2 of 2") and is_shown('path: "second"'), table.concat(screen(), "\n"))
  return fake
end

it("reader: e on a call that cannot be changed stays at it, and is not offered", function()
  local fake = start_at_second({ action = { kind = "server", server = "fs" } })
  assert(footer():find("e edit", 1, true), footer())
  require("cellgate.session").waiting()[2].approval.editText = nil
  require("cellgate.approval_reader").screen_changed()
  assert(not footer():find("e edit", 1, true), footer())
  see(600)
  type_keys("e")
  assert(is_shown("2 of 2") and is_shown('path: "second"'), table.concat(screen(), "\n"))
  assert(footer():find("this cannot be changed: nothing was answered", 1, true), footer())
  type_keys("1")
  equal(answers(fake), {})
  see(600)
  type_keys("1")
  equal(answers(fake)[1].approvalIds, { "second" })
end)

it("reader: where the arguments cannot be opened, e comes back to the same question", function()
  local fake = start_at_second()
  local edit = require("cellgate.approval_edit")
  edit.open = function() -- luacheck: ignore
    return "there is no room for a window"
  end
  type_keys("e")
  assert(is_shown("2 of 2") and footer():find("no room for a window", 1, true), table.concat(screen(), "\n"))
  type_keys("1")
  equal(answers(fake), {})
  see(600)
  type_keys("1")
  equal(answers(fake)[1].approvalIds, { "second" })
end)

local function leave_reason()
  vim.cmd.stopinsert()
  type_keys("<Esc>")
end

it("reader: Esc Esc in the window for a reason goes back to the same question", function()
  local fake = start_at_second()
  type_keys("D")
  leave_reason()
  assert(is_shown("2 of 2") and is_shown('path: "second"'), table.concat(screen(), "\n"))
  type_keys("1")
  equal(answers(fake), {})
  see(600)
  see(600)
  type_keys("1")
  equal(answers(fake)[1].approvalIds, { "second" })
end)

it("reader: where the question is gone meanwhile, that is said, and a key for it answers no other", function()
  local fake = start_at_second()
  type_keys("D")
  fake:notify("approval/resolved", { approvalId = "second", decision = "deny", by = "user" })
  wait(function()
    return #require("cellgate.session").waiting() == 1
  end, "the answer")
  leave_reason()
  assert(is_shown("1 of 1") and is_shown('path: "first"'), table.concat(screen(), "\n"))
  assert(footer():find("waits no more: this is another question", 1, true), footer())
  see(499)
  type_keys("1")
  type_keys("d")
  equal(answers(fake), {})
end)
