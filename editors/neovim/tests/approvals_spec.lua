-- Specs of `approvals`: each guard of an answer, with a control in which the answer passes without it; groups and tags.
local asking = require("asking")
local start, ask, answers, see, type_keys = asking.start, asking.ask, asking.answers, asking.see, asking.type_keys
local turn, display, pass, five_choices, resize =
  asking.turn, asking.display, asking.pass, asking.five_choices, asking.resize
local enter = asking.enter

-- The command `:Cellgate`, which Neovim defines at its start.
vim.g.loaded_cellgate = nil
vim.cmd.runtime("plugin/cellgate.lua")

it("approvals: keys are dead half a second after the window was drawn, and each one too early restarts it", function()
  local fake = start()
  ask(fake, "a")
  enter()
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
end)

it("control: without the guard the first key answers", function()
  local fake = start()
  require("cellgate.approvals").guarded = false
  ask(fake, "a")
  enter()
  type_keys("1")
  equal(answers(fake), { { approvalIds = { "a" }, decision = "allow", scope = "once" } })
end)

it("approvals: what was not shown to its end cannot be allowed", function()
  local fake = start()
  ask(fake, "a", { display = display(100) })
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

it("approvals: an end that no screen has shown is not enough", function()
  local fake = start()
  ask(fake, "a", { display = display(100) })
  enter()
  see(600)
  -- All at once, without a redraw between.
  type_keys("G1")
  equal(answers(fake), {})
end)

it("approvals: the end has to be shown again after the text has changed", function()
  local fake = start()
  ask(fake, "a", { display = display(100) })
  enter()
  see(600)
  type_keys("G")
  see(600)
  resize(60, 30)
  see(600)
  type_keys("1")
  equal(answers(fake), {})
  see(600)
  type_keys("G")
  see(600)
  type_keys("1")
  equal(#answers(fake), 1)
end)

it("control: without the guard a call is allowed whose end was not shown", function()
  local fake = start()
  require("cellgate.approvals").guarded = false
  ask(fake, "a", { display = display(100) })
  enter()
  see(600)
  type_keys("1")
  equal(#answers(fake), 1)
end)

it("approvals: it can be denied without reading all of it", function()
  local fake = start()
  ask(fake, "a", { display = display(100) })
  enter()
  see(600)
  type_keys("d")
  equal(answers(fake), { { approvalIds = { "a" }, decision = "deny" } })
end)

it("approvals: one answer is for those that were shown, not for one that came since", function()
  local fake = start()
  ask(fake, "a")
  ask(fake, "b")
  enter()
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
  enter()
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

it("approvals: a call with other choices is read first, by itself", function()
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
  require("cellgate.approvals").ungroup("in2")
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
  fake:notify("approval/resolved", { approvalId = "a", decision = "deny", by = "user" })
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
  fake:notify("approval/resolved", { approvalId = "b", decision = "allow", by = "user" })
  turn()
  ask(fake, "c")
  assert(tonumber(require("cellgate.session").waiting()[1].tag) > tonumber(second))
end)

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

it("tag: without a number it is the call alone, wherever that is among the choices", function()
  local fake = start()
  ask(fake, "a", { choices = { five_choices[5], five_choices[1] } })
  see(600)
  vim.cmd("Cellgate allow #" .. require("cellgate.session").waiting()[1].tag)
  equal(answers(fake), { { approvalIds = { "a" }, decision = "allow", scope = "once" } })
end)

it("tag: deny sends the reason, and not while things change", function()
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

it("approvals: hostile text is shown as text", function()
  local fake = start()
  ask(fake, "a", { display = { "tool read of fs", "path: \27[2Jx\226\128\174y\nz" }, agent = "a\27]0;b\7" })
  local rows = require("cellgate.approvals").rows(require("cellgate.session").waiting(), 60)
  for _, row in ipairs(rows) do
    assert(not row.text:find("%c"), row.text)
    assert(not row.text:find("\226\128\174", 1, true), row.text)
  end
end)

it("approvals: the sidecar explains why something is asked, from the bytes that came", function()
  local fake = start()
  ask(fake, "a")
  require("cellgate.approvals").explain(require("cellgate.session").waiting()[1])
  turn()
  equal(fake:asked("policy/explain")[1].params.action.argumentsText, '{"path":"a"}')
end)

it("approvals: a yes that a security key has to confirm says so, and a refusal leaves the question", function()
  local fake = start()
  local shown = {}
  local before = vim.notify
  vim.notify = function(words)
    shown[#shown + 1] = words
  end
  fake.errors["approval/respond"] = {
    code = 1029,
    message = "the security key did not sign",
    data = { kind = "notConfirmed", hint = "touch it" },
  }
  ask(fake, "a", { confirm = "touch" })
  enter()
  see(600)
  type_keys("1")
  equal(#answers(fake), 1)
  equal(shown, { "cellgate: touch your security key…", "cellgate: the security key did not sign. touch it" })
  equal(#require("cellgate.session").waiting(), 1)
  fake.errors = {}
  local item = require("cellgate.session").waiting()[1]
  see(600)
  equal(require("cellgate.approvals").deny({ item }, "no", 0), nil)
  equal(#answers(fake), 2)
  vim.notify = before
  equal(#shown, 2)
end)

it("approvals: one with confirm is not answered with one without", function()
  local fake = start()
  ask(fake, "a")
  ask(fake, "b", { confirm = "touch" })
  equal(#require("cellgate.approvals").groups(), 2)
end)
