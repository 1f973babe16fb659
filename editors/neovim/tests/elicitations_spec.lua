-- Specs of `elicitation_window`, and of what else is shown of a tool server's question: a form that is edited and sent
-- by a typed `:w`, a page that is opened on command, and nothing that the server's words could do.
local asking = require("asking")
local see, type_keys, turn = asking.see, asking.type_keys, asking.turn
local window_of, is_shown = asking.window_of, asking.is_shown

local opened, messages

-- An elicitation as the sidecar sends it.
local function question(id, more)
  local made = vim.tbl_extend("force", {
    elicitationId = id,
    server = "booking",
    tool = "book_table",
    message = "When should the table be booked?",
    mode = "form",
    fields = {
      { name = "day", title = "Day", type = "text", required = true, format = "date" },
      { name = "people", title = "How many?", type = "integer", required = true, initial = 4 },
      { name = "outside", title = "Outside?", type = "boolean", required = false },
    },
    createdAt = "2026-01-05T09:30:02.500Z",
  }, more or {})
  made.tool = made.tool or nil -- false takes it away
  return made
end

local page = { mode = "url", url = "https://pay.example/cards?state=4711", host = "pay.example" }

local function start()
  local fake = asking.start()
  fake.answers["elicitation/respond"] = function() end
  opened, messages = {}, {}
  require("cellgate.config").values.open = function(url)
    table.insert(opened, url)
  end
  require("cellgate.notify").show = function(words)
    table.insert(messages, words)
  end
  return fake
end

local function ask(fake, id, more)
  local session = require("cellgate.session")
  local before = #session.elicitations()
  fake:notify("elicitation/requested", question(id, more))
  wait(function()
    return #session.elicitations() == before + 1
  end, "the question")
  turn()
  turn()
end

local function command(...)
  require("cellgate.commands").run({ fargs = { ... }, range = 0 })
end

-- The question is open, and has been looked at.
local function answering(fake, more)
  ask(fake, "e1", more)
  command("answer")
  see(600)
end

local function answers(fake)
  turn()
  return vim.tbl_map(function(message)
    return message.params
  end, fake:asked("elicitation/respond"))
end

local function line_of(pattern)
  local line = vim.fn.search(pattern, "cw")
  assert(line > 0, pattern .. " in " .. vim.inspect(vim.api.nvim_buf_get_lines(0, 0, -1, false)))
  return line
end

local function set_line(pattern, words)
  local line = line_of(pattern)
  vim.api.nvim_buf_set_lines(0, line - 1, line, false, { words })
end

local function said(words)
  return table.concat(messages, "\n"):find(words, 1, true) ~= nil
end

it("elicitations: the client says that it can show them", function()
  local fake = start()
  equal(fake:asked("initialize")[1].params.capabilities.elicitation, true)
end)

it("elicitations: one is shown in the preview, in the statusline and at its line, and takes no cursor", function()
  local fake = start()
  local window = vim.api.nvim_get_current_win()
  vim.cmd.edit("/tmp/asks.py")
  vim.api.nvim_buf_set_lines(0, 0, -1, false, { "# %%", "book_table.run(people=4)" })
  local uri = vim.uri_from_fname("/tmp/asks.py")
  ask(fake, "e1", { origin = { line = 1, text = "book_table.run(people=4)", uri = uri, reportedBy = "code" } })
  equal(vim.api.nvim_get_current_win(), window)
  local preview, words = window_of("cellgate-preview")
  assert(preview and words:find("booking asks, while its tool book_table runs", 1, true), words)
  assert(words:find("\n> When should the table be booked?", 1, true), words)
  assert(is_shown(":Cellgate answer to answer"))
  assert(is_shown("  booking asks #"))
  equal(require("cellgate").waiting(), 1)
  assert(require("cellgate").statusline():find("1 waits for you", 1, true))
  see(600)
  type_keys("adoCy1<CR>")
  equal(answers(fake), {})
  asking.ask(fake, "a")
  assert(is_shown("cellgate asks, 2 wait"))
  vim.bo.modified = false
end)

it("elicitations: a form is filled in and sent by :w", function()
  local fake = start()
  answering(fake)
  equal(vim.bo.filetype, "cellgate-form")
  assert(not window_of("cellgate-preview"), "the question is not shown twice")
  set_line("^day: ", "day: 2026-02-01")
  line_of("^outside:")
  type_keys("<CR>")
  type_keys(":w<CR>")
  equal(answers(fake), {
    { elicitationId = "e1", action = "accept", values = { day = "2026-02-01", people = 4, outside = true } },
  })
  turn()
  equal(window_of("cellgate-form"), nil)
  fake:notify("elicitation/resolved", { elicitationId = "e1", action = "accept", by = "user" })
  turn()
  turn()
  equal(require("cellgate").waiting(), 0)
  assert(not said("does not wait any more"), vim.inspect(messages))
end)

it("elicitations: what cannot be read is marked at its line, and nothing is sent", function()
  local fake = start()
  answering(fake)
  set_line("^people: ", "people: many")
  type_keys(":w<CR>")
  equal(answers(fake), {})
  local marks = vim.diagnostic.get(0)
  equal({ #marks, marks[1].message, marks[1].lnum + 1 }, { 2, "this is needed", line_of("^day:") })
  assert(is_shown("many is no number"))
  set_line("^people: ", "people: 5")
  set_line("^day: ", "day: 2026-02-01")
  type_keys(":w<CR>")
  equal(answers(fake)[1].values, { day = "2026-02-01", people = 5, outside = false })
end)

it("elicitations: what the sidecar refuses is marked at the field that it names, and the form stays", function()
  local fake = start()
  fake.errors["elicitation/respond"] = {
    code = 1027,
    message = "day: tomorrow is no date",
    data = { kind = "answerInvalid", hint = "Correct it." },
  }
  answering(fake)
  set_line("^day: ", "day: tomorrow")
  type_keys(":w<CR>")
  equal(#answers(fake), 1)
  turn()
  assert(is_shown("day: tomorrow is no date"))
  equal(vim.diagnostic.get(0)[1].lnum + 1, line_of("^day:"))
  fake.errors["elicitation/respond"] = nil
  set_line("^day: ", "day: 2026-02-01")
  type_keys(":w<CR>")
  equal(answers(fake)[2].values.day, "2026-02-01")
end)

it("elicitations: :wq whose answer is refused brings the form back, with what was written", function()
  local fake = start()
  answering(fake)
  set_line("^people: ", "people: many")
  type_keys(":wq<CR>")
  turn()
  equal(answers(fake), {})
  line_of("^people: many")
  fake.errors["elicitation/respond"] = { code = 1027, message = "day: no", data = { kind = "answerInvalid" } }
  set_line("^people: ", "people: 5")
  set_line("^day: ", "day: tomorrow")
  see(600)
  type_keys(":wq<CR>")
  equal(#answers(fake), 1)
  turn()
  equal(vim.diagnostic.get(0)[1].lnum + 1, line_of("^day: tomorrow"))
end)

it("elicitations: nothing but a typed :w sends a form", function()
  local fake = start()
  answering(fake)
  set_line("^day: ", "day: 2026-02-01")
  local copy = vim.fn.tempname()
  vim.cmd("silent! write")
  for _, keys in ipairs({ ":silent! wall<CR>", ":w " .. copy .. "<CR>", ":1,2w<CR>" }) do
    type_keys(keys)
  end
  equal(answers(fake), {})
  equal(vim.uv.fs_stat(copy), nil)
  type_keys(":w<CR>")
  equal(#answers(fake), 1)
end)

it("elicitations: nothing is answered within half a second, nor accepted before the end was shown", function()
  local fields = {}
  for i = 1, 60 do
    fields[i] = { name = "f" .. i, title = "Field", type = "boolean", required = false, initial = true }
  end
  local fake = start()
  ask(fake, "e1", { fields = fields })
  command("answer")
  see(400)
  type_keys("gD")
  equal(answers(fake), {})
  see(600)
  type_keys(":w<CR>")
  equal(answers(fake), {})
  assert(said("was not yet shown to its end"), vim.inspect(messages))
  -- The control: without the guard it is sent.
  require("cellgate.approvals").guarded = false
  type_keys(":w<CR>")
  equal(#answers(fake), 1)
end)

it("elicitations: a long form is sent after its end was shown", function()
  local fields = {}
  for i = 1, 60 do
    fields[i] = { name = "f" .. i, title = "Field", type = "boolean", required = false, initial = true }
  end
  local fake = start()
  answering(fake, { fields = fields })
  type_keys("G")
  see(600)
  type_keys(":w<CR>")
  equal(#answers(fake), 1)
end)

it("elicitations: it is declined and cancelled by keys, and left without an answer", function()
  local fake = start()
  answering(fake)
  type_keys(":q!<CR>")
  turn()
  equal(answers(fake), {})
  assert(window_of("cellgate-preview"), "it waits on")
  command("answer")
  see(600)
  type_keys("gD")
  equal(answers(fake), { { elicitationId = "e1", action = "decline" } })
  ask(fake, "e2")
  command("answer", "#" .. require("cellgate.session").elicitations()[2].tag)
  see(600)
  type_keys("gC")
  equal(answers(fake)[2], { elicitationId = "e2", action = "cancel" })
end)

it("elicitations: what was resolved elsewhere is closed, and said", function()
  local fake = start()
  answering(fake)
  set_line("^day: ", "day: 2026-02-01")
  fake:notify("elicitation/resolved", { elicitationId = "e1", action = "cancel", by = "cancelled" })
  wait(function()
    return not window_of("cellgate-form")
  end, "the end of the window")
  assert(said("does not wait any more"), vim.inspect(messages))
  command("answer")
  assert(said("no tool server asks anything"), vim.inspect(messages))
end)

it("elicitations: of a page the host is shown by itself, and it is opened by a key only", function()
  local fake = start()
  answering(fake, page)
  equal(vim.bo.modifiable, false)
  local lines = vim.api.nvim_buf_get_lines(0, 0, -1, false)
  assert(vim.tbl_contains(lines, "#     pay.example"), vim.inspect(lines))
  assert(vim.tbl_contains(lines, "#     https://pay.example/cards?state=4711"), vim.inspect(lines))
  type_keys("y")
  equal(vim.fn.getreg('"'), page.url)
  equal({ opened, answers(fake) }, { {}, {} })
  type_keys("o")
  equal(opened, { page.url })
  equal(answers(fake), { { elicitationId = "e1", action = "accept" } })
end)

it(
  "elicitations: a page is left, declined, and not opened before it was shown or when it is none of the web",
  function()
    local fake = start()
    ask(fake, "e1", page)
    command("answer")
    type_keys("o")
    equal({ opened, answers(fake) }, { {}, {} })
    type_keys("q")
    turn()
    equal(window_of("cellgate-form"), nil)
    command("answer")
    see(600)
    type_keys("d")
    equal(answers(fake), { { elicitationId = "e1", action = "decline" } })
    fake:notify("elicitation/resolved", { elicitationId = "e1", action = "decline", by = "user" })
    turn()
    turn()
    ask(fake, "e2", { mode = "url", url = "javascript:alert(1)", host = "pay.example" })
    command("answer")
    see(600)
    type_keys("o")
    equal({ opened, #answers(fake) }, { {}, 1 })
    assert(said("is no page of the web"), vim.inspect(messages))
  end
)

it("elicitations: a page that the user opens elsewhere is accepted without being opened here", function()
  local fake = start()
  answering(fake, page)
  type_keys("a")
  equal({ opened, answers(fake) }, { {}, { { elicitationId = "e1", action = "accept" } } })
end)

it("elicitations: a question without fields takes a yes or a no", function()
  local fake = start()
  answering(fake, { fields = {}, message = "Really?" })
  type_keys("a")
  equal(answers(fake), { { elicitationId = "e1", action = "accept", values = {} } })
end)

it("elicitations: :Cellgate approvals opens a question where nothing else waits", function()
  local fake = start()
  ask(fake, "e1")
  asking.ask(fake, "a")
  command("approvals")
  equal(vim.bo.filetype, "cellgate-approval")
  fake:notify("approval/resolved", { approvalId = "a", decision = "deny", by = "user" })
  wait(function()
    return not window_of("cellgate-approval")
  end, "the end of the approval")
  turn()
  assert(window_of("cellgate-preview"), "the question is shown")
  command("approvals")
  equal(vim.bo.filetype, "cellgate-form")
end)

it("elicitations: a server's words are shown as they are, and do nothing", function()
  local fake = start()
  vim.o.modeline, vim.o.modelines = true, 5
  local shiftwidth = vim.o.shiftwidth
  local words = "vim: set shiftwidth=7 textwidth=3:\n\27[31mred\226\128\174\nday: 2026-02-02\n# :w sends nothing"
  answering(fake, { message = words, server = "book\226\128\174ing", agent = "claude\27[0m" })
  local lines = vim.api.nvim_buf_get_lines(0, 0, -1, false)
  for _, line in ipairs({
    "#> vim: set shiftwidth=7 textwidth=3:",
    "#> ^[[31mred<U+202E>",
    "#> day: 2026-02-02",
    "#> # :w sends nothing",
  }) do
    assert(vim.tbl_contains(lines, line), line .. " in " .. vim.inspect(lines))
  end
  assert(lines[1]:find("book<U+202E>ing asks", 1, true), lines[1])
  assert(lines[2]:find("an agent that calls itself claude^[[0m", 1, true), lines[2])
  equal({ vim.bo.modeline, vim.o.shiftwidth, vim.bo.textwidth }, { false, shiftwidth, 0 })
  set_line("^day: $", "day: 2026-02-01")
  type_keys("G")
  see(600)
  type_keys(":w<CR>")
  equal(answers(fake)[1].values.day, "2026-02-01")
end)

it("elicitations: an undo does not take the form away, and opened again it has what was written", function()
  local fake = start()
  answering(fake)
  local before = vim.api.nvim_buf_get_lines(0, 0, -1, false)
  type_keys("u")
  equal(vim.api.nvim_buf_get_lines(0, 0, -1, false), before)
  set_line("^day: ", "day: 2026-02-01")
  type_keys("<C-w>p")
  command("answer")
  line_of("^day: 2026-02-01")
  equal(#vim.fn.win_findbuf(vim.api.nvim_get_current_buf()), 1)
end)

it(
  "elicitations: what waited is announced again after the connection was lost, and one that was open is closed",
  function()
    local fake = start()
    answering(fake)
    fake.peer.hang_up()
    wait(function()
      return #require("cellgate.session").elicitations() == 0
    end, "the end of the connection")
    turn()
    turn()
    equal(window_of("cellgate-form"), nil)
  end
)

it("elicitations: a cell whose call waits for an answer says so", function()
  local fake = start()
  local here = require("cellgate.session").of("/tmp")
  local execution = here:execute({ code = "book_table.run()" })
  execution.state = "running"
  ask(fake, "e1", { executionId = execution.id })
  equal((require("cellgate.execution_state").describe(execution)), "waits for your answer")
end)

-- Of the inputs of a server's configuration.
local inputs = {
  server = "tracker",
  tool = false,
  message = "tracker needs these before it starts",
  fields = {
    { name = "token", title = "token", description = "API token", type = "text", required = true, secret = true },
    {
      name = "site",
      title = "site",
      type = "choice",
      required = true,
      initial = "eu",
      options = { { value = "eu", title = "eu" }, { value = "us", title = "us" } },
    },
  },
}

it("elicitations: what a server needs before it starts is asked for in our words", function()
  local fake = start()
  answering(fake, inputs)
  local lines = vim.api.nvim_buf_get_lines(0, 0, -1, false)
  assert(lines[1]:find("^# #%S+ +tracker needs these before it starts$"), lines[1])
  assert(lines[2]:find("What you answer goes to that server", 1, true), lines[2])
  assert(vim.tbl_contains(lines, "#> API token"), vim.inspect(lines))
  assert(not table.concat(lines, "\n"):find("its tool", 1, true), vim.inspect(lines))
end)

it("elicitations: a secret is typed at a prompt, and is in no buffer, register or history", function()
  local fake = start()
  answering(fake, inputs)
  type_keys(":w<CR>")
  equal(answers(fake), {})
  equal(vim.diagnostic.get(0)[1].message, "this is needed")
  set_line("^token:", "token: typed into the text")
  type_keys(":w<CR>")
  equal(answers(fake), {})
  assert(vim.diagnostic.get(0)[1].message:find("is not written here", 1, true))
  set_line("^token:", "token:")
  local prompt
  local inputsecret = vim.fn.inputsecret
  rawset(vim.fn, "inputsecret", function(words)
    prompt = words
    return inputsecret(words)
  end)
  line_of("^token:")
  type_keys("<CR>s3cr3t<CR>")
  rawset(vim.fn, "inputsecret", inputsecret)
  equal(prompt, "token: ")
  line_of("^token: •••$")
  local everywhere = { vim.api.nvim_buf_get_lines(0, 0, -1, false), vim.fn.getreginfo('"'), vim.fn.getreginfo("-") }
  for _, kind in ipairs({ ":", "@", "=" }) do
    for i = 1, vim.fn.histnr(kind) do
      table.insert(everywhere, vim.fn.histget(kind, i))
    end
  end
  assert(not vim.inspect(everywhere):find("s3cr3t", 1, true))
  assert(not is_shown("s3cr3t"))
  type_keys(":w<CR>")
  equal(answers(fake), { { elicitationId = "e1", action = "accept", values = { token = "s3cr3t", site = "eu" } } })
end)

it("elicitations: a prompt for a secret that is left changes nothing", function()
  local fake = start()
  answering(fake, inputs)
  line_of("^token:")
  type_keys("<CR>s3cr3t<Esc>")
  line_of("^token: $")
  line_of("( ) us")
  type_keys("<CR>")
  line_of("^token:")
  type_keys("<CR>right<CR>")
  type_keys(":w<CR>")
  equal(answers(fake)[1].values, { token = "right", site = "us" })
end)
