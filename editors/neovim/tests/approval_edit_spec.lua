-- Specs of `approval_edit`: the arguments of a call, changed and sent by a typed `:w` only.
local asking = require("asking")
local start, ask, answers, see, type_keys = asking.start, asking.ask, asking.answers, asking.see, asking.type_keys
local turn, display, pass, enter, window_of = asking.turn, asking.display, asking.pass, asking.enter, asking.window_of
local footer = asking.footer

local function open_edit(fake, more)
  ask(fake, "a", more)
  enter()
  see(600)
  type_keys("e")
  see(600)
end

it("edit: not before all that is asked was shown", function()
  local fake = start()
  open_edit(fake, { display = display(200) })
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
  ask(fake, "a")
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
  open_edit(fake)
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
  open_edit(fake)
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
  ask(fake, "a")
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

local function edited(fake)
  ask(fake, "a")
  enter()
  see(600)
  type_keys("e")
  assert(vim.api.nvim_buf_get_name(0):find("cellgate://edit/", 1, true), vim.api.nvim_buf_get_name(0))
  vim.api.nvim_buf_set_lines(0, 0, -1, false, { '{"path": "mine",', '"count": 1.0}' })
  see(600)
  return vim.api.nvim_get_current_buf()
end

it("edit: changed arguments are sent as they were typed, by :w", function()
  local fake = start()
  edited(fake)
  -- What a decoder would change, or drop.
  local typed = {
    '{"one": 1.0, "large": 9223372036854775809, "huge": 1e400, "small": -0.0,',
    '"a": [], "o": {}, "a": "\\u00e9\\/é"}',
  }
  vim.api.nvim_buf_set_lines(0, 0, -1, false, typed)
  type_keys(":w<CR>")
  equal(#answers(fake), 1)
  equal(answers(fake)[1].argumentsText, table.concat(typed, "\n"))
end)

it("edit: the text to change is the one that cellgate laid out, none of it out of sight", function()
  local fake = start()
  vim.o.conceallevel, vim.o.foldmethod, vim.o.foldlevel = 2, "indent", 0
  local lines = { "{", '  "one": 1.0,', '  "large": 9223372036854775809,', '  "huge": 1e400,', '  "a": [],', "}" }
  ask(fake, "a", { editText = table.concat(lines, "\n") })
  enter()
  see(600)
  type_keys("e")
  equal(vim.api.nvim_buf_get_lines(0, 0, -1, false), lines)
  equal({ vim.wo.conceallevel, vim.fn.foldclosed(2) }, { 0, -1 })
  vim.cmd("set conceallevel& foldmethod& foldlevel&")
end)

it("edit: bytes that are not UTF-8 are not sent, and the call goes on waiting", function()
  local fake = start()
  local buffer = edited(fake)
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

it("edit: what saves files by itself answers nothing", function()
  local fake = start()
  local buffer = edited(fake)
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

it("edit: what cellgate refuses stays, and can be corrected", function()
  local fake = start()
  local buffer = edited(fake)
  fake.errors["approval/respond"] = { code = 1012, message = "line 2: expected JSON, found no JSON value" }
  local told
  vim.notify = function(words)
    told = words
  end
  vim.api.nvim_buf_set_lines(0, 0, -1, false, { "{", '"a":NaN}' })
  type_keys(":w<CR>")
  turn()
  vim.notify = function() end
  assert(told and told:find("line 2: expected JSON", 1, true), told)
  equal(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), { "{", '"a":NaN}' })
  fake.errors["approval/respond"] = nil
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, { '{"a":1}' })
  see(600)
  type_keys(":w<CR>")
  equal(answers(fake)[2].argumentsText, '{"a":1}')
  turn()
  equal(vim.api.nvim_buf_is_valid(buffer), false)
end)
