-- Each guard of an answer, with a control that shows the answer going through without it.
local asking = require("asking")
local start, ask, answers, see, type_keys, turn =
  asking.start, asking.ask, asking.answers, asking.see, asking.type_keys, asking.turn
local display, pass = asking.display, asking.pass

it("approvals: a preview takes no cursor and has no keys", function()
  local fake = start()
  local window = vim.api.nvim_get_current_win()
  ask(fake, "a")
  equal(vim.api.nvim_get_current_win(), window)
  local found
  for _, each in ipairs(vim.api.nvim_list_wins()) do
    local config = vim.api.nvim_win_get_config(each)
    if config.relative ~= "" then
      found = each
      equal(config.focusable, false)
      equal(vim.api.nvim_buf_get_keymap(vim.api.nvim_win_get_buf(each), "n"), {})
    end
  end
  assert(found, "no preview")
  see(1000)
  type_keys("1dDey<CR>")
  equal(answers(fake), {})
end)

it("approvals: the preview comes again in another tab page", function()
  local fake = start()
  ask(fake, "a")
  vim.cmd.tabnew()
  turn()
  turn()
  equal(#vim.api.nvim_tabpage_list_wins(0), 2)
  vim.cmd.tabonly()
end)

it(
  "approvals: keys are dead half a second after the window was drawn, and each one too early begins it anew",
  function()
    local fake = start()
    ask(fake, "a")
    require("cellgate.approval_windows").enter()
    type_keys("1")
    see(499)
    type_keys("1")
    pass(499)
    type_keys("d")
    equal(answers(fake), {})
    pass(501)
    type_keys("2")
    equal(answers(fake), {
      { approvalIds = { "a" }, decision = "allow", scope = "session", rule = { effect = "allow", kind = "tool" } },
    })
  end
)

it("control: without the guard the first key answers", function()
  local fake = start()
  require("cellgate.approvals").guarded = false
  ask(fake, "a")
  require("cellgate.approval_windows").enter()
  type_keys("1")
  equal(answers(fake), { { approvalIds = { "a" }, decision = "allow", scope = "once" } })
end)

it("approvals: what was not on the screen to its end cannot be allowed, not even by jumping to the end", function()
  local fake = start()
  ask(fake, "a", { display = display(100) })
  require("cellgate.approval_windows").enter()
  see(600)
  type_keys("1")
  see(600)
  type_keys("G")
  see(600)
  type_keys("1")
  equal(answers(fake), {})
  type_keys("gg")
  for _ = 1, 10 do
    see(600)
    type_keys("<C-d>")
  end
  see(600)
  type_keys("1")
  equal(#answers(fake), 1)
end)

it("approvals: it can be denied without reading all of it", function()
  local fake = start()
  ask(fake, "a", { display = display(100) })
  require("cellgate.approval_windows").enter()
  see(600)
  type_keys("d")
  equal(answers(fake), { { approvalIds = { "a" }, decision = "deny" } })
end)

it("approvals: one answer is for those that were shown, not for one that came since", function()
  local fake = start()
  ask(fake, "a")
  ask(fake, "b")
  require("cellgate.approval_windows").enter()
  see(600)
  ask(fake, "c")
  see(600)
  type_keys("1")
  equal(answers(fake)[1].approvalIds, { "a", "b" })
end)

it("approvals: one that goes while it is read makes the keys dead again", function()
  local fake = start()
  ask(fake, "a")
  ask(fake, "b")
  require("cellgate.approval_windows").enter()
  see(600)
  fake:notify("approval/resolved", { approvalId = "a", decision = "deny", by = "rule" })
  wait(function()
    return #require("cellgate.session").waiting() == 1
  end, "the end of one")
  turn()
  type_keys("1")
  see(100)
  type_keys("1")
  equal(answers(fake), {})
  see(600)
  type_keys("1")
  equal(answers(fake)[1].approvalIds, { "b" })
end)

it("approvals: a call that leads elsewhere is read first, by itself", function()
  local fake = start()
  for i = 1, 3 do
    ask(fake, "in" .. i)
  end
  ask(
    fake,
    "out",
    { choices = { { label = "this call", scope = "once" }, { label = "any of fs", scope = "session" } } }
  )
  local groups = require("cellgate.approvals").groups()
  equal(
    vim.tbl_map(function(group)
      return #group.items
    end, groups),
    { 1, 3 }
  )
  equal(groups[1].items[1].approval.approvalId, "out")
  require("cellgate.approvals").set_apart("in2")
  equal(#require("cellgate.approvals").groups(), 3)
end)

it("approvals: a tag answers only what was shown, and not while things change", function()
  local fake = start()
  local approvals = require("cellgate.approvals")
  ask(fake, "a", { display = display(60) })
  local tag = require("cellgate.session").waiting()[1].tag
  see(600)
  assert(approvals.allow_tag(tag):find("not yet shown to its end", 1, true))
  ask(fake, "b", { choices = { { label = "this call", scope = "once" } } })
  fake:notify("approval/resolved", { approvalId = "a", decision = "deny", by = "person" })
  wait(function()
    return #require("cellgate.session").waiting() == 1
  end, "the end of one")
  turn()
  local second = require("cellgate.session").waiting()[1].tag
  assert(second ~= tag)
  see(499)
  assert(approvals.allow_tag(second):find("just changed", 1, true))
  assert(approvals.allow_tag(tag):find("nothing that waits", 1, true))
  pass(2)
  equal(approvals.allow_tag(second, "2"), ("#%s has 1 choices"):format(second))
  equal(approvals.allow_tag(second), nil)
  equal(answers(fake)[1].approvalIds, { "b" })
  -- It comes again under another name: tags are not given twice.
  fake:notify("approval/resolved", { approvalId = "b", decision = "allow", by = "person" })
  turn()
  ask(fake, "c")
  assert(tonumber(require("cellgate.session").waiting()[1].tag) > tonumber(second))
end)

local function edit(fake)
  ask(fake, "a", { action = { arguments = { path = "x", count = 1 } } })
  require("cellgate.approval_windows").enter()
  see(600)
  type_keys("e")
  assert(vim.api.nvim_buf_get_name(0):find("cellgate://edit/", 1, true), vim.api.nvim_buf_get_name(0))
  vim.api.nvim_buf_set_lines(0, 0, -1, false, { '{"path": "mine",', '"count": 1.0}' })
  see(600)
  return vim.api.nvim_get_current_buf()
end

it("approvals: changed arguments are sent as they were typed, by :w", function()
  local fake = start()
  edit(fake)
  -- What a decoder would change, or drop.
  local typed = {
    '{"one": 1.0, "large": 9223372036854775809, "huge": 1e400, "small": -0.0,',
    '"a": [], "o": {}, "a": "\\u00e9\\/é"}',
  }
  vim.api.nvim_buf_set_lines(0, 0, -1, false, typed)
  local sent
  local send = fake.peer.send
  fake.peer.send = function(self, body)
    sent = body
    return send(self, body)
  end
  type_keys(":w<CR>")
  equal(#answers(fake), 1)
  assert(sent:find('"arguments":' .. table.concat(typed, "\n"), 1, true), sent)
end)

it("approvals: the arguments to change are those that came, none of them out of sight", function()
  local fake = start()
  vim.o.conceallevel, vim.o.foldmethod, vim.o.foldlevel = 2, "indent", 0
  local arguments = '{"one":1.0,"large":9223372036854775809,"huge":1e400,"a":[],"o":{}}'
  fake:ask("a", { action = { arguments = "HERE" } }, function(body)
    return (body:gsub('"HERE"', arguments))
  end)
  wait(function()
    return #require("cellgate.session").waiting() == 1
  end, "the approval")
  turn()
  require("cellgate.approval_windows").enter()
  see(600)
  type_keys("e")
  equal(vim.api.nvim_buf_get_lines(0, 0, -1, false), {
    "{",
    '  "one": 1.0,',
    '  "large": 9223372036854775809,',
    '  "huge": 1e400,',
    '  "a": [],',
    '  "o": {}',
    "}",
  })
  equal({ vim.wo.conceallevel, vim.fn.foldclosed(2) }, { 0, -1 })
  vim.cmd("set conceallevel& foldmethod& foldlevel&")
end)

it("approvals: bytes that are not UTF-8 are not sent, and the call goes on waiting", function()
  local fake = start()
  local buffer = edit(fake)
  local told
  vim.notify = function(words)
    told = words
  end
  vim.api.nvim_buf_set_lines(0, 0, -1, false, { '{"path": "caf\233"}' })
  type_keys(":w<CR>")
  vim.notify = function() end
  equal(answers(fake), {})
  assert(told and told:find("not UTF-8", 1, true), told)
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, { '{"path": "café"}' })
  type_keys(":w<CR>")
  equal(#answers(fake), 1)
end)

it("approvals: what saves files by itself answers nothing", function()
  local fake = start()
  local buffer = edit(fake)
  vim.cmd("silent! write")
  vim.cmd("silent! wall")
  vim.cmd.new()
  type_keys(":wall<CR>")
  type_keys(":bufdo w<CR>")
  equal(answers(fake), {})
  vim.api.nvim_set_current_buf(buffer)
  type_keys(":w<CR>")
  equal(#answers(fake), 1)
end)

it("approvals: what is no JSON object is not sent", function()
  local fake = start()
  edit(fake)
  for _, bad in ipairs({ "[1]", '{"a":1', '{"a":1},"decision":"allow"', '{"a":NaN}' }) do
    vim.api.nvim_buf_set_lines(0, 0, -1, false, { bad })
    type_keys(":w<CR>")
  end
  equal(answers(fake), {})
end)

it("approvals: hostile text is shown as text", function()
  local fake = start()
  ask(fake, "a", { display = { "tool read of fs", "path: \27[2Jx\226\128\174y\nz" }, agent = "a\27]0;b\7" })
  local rows = require("cellgate.approvals").rows(require("cellgate.session").waiting(), 60)
  for _, row in ipairs(rows) do
    assert(not row.text:find("%c"), row.text)
    assert(not row.text:find("\226\128\174", 1, true), row.text)
  end
end)

it("approvals: why something is asked is told by the sidecar, about the bytes that came", function()
  local fake = start()
  ask(fake, "a")
  require("cellgate.approvals").explain(require("cellgate.session").waiting()[1])
  turn()
  equal(fake:asked("policy/explain")[1].params.action.arguments, { path = "a" })
end)
