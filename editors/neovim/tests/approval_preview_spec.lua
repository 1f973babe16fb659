-- Specs of `approval_preview` and `approval_marks`: what is shown of approvals without any key that answers.
local asking = require("asking")
local start, ask, answers, see, type_keys = asking.start, asking.ask, asking.answers, asking.see, asking.type_keys
local turn, display, resize, extent = asking.turn, asking.display, asking.resize, asking.extent

it("preview: it takes no cursor and has no keys", function()
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

it("preview: it comes again in another tab page", function()
  local fake = start()
  ask(fake, "a")
  vim.cmd.tabnew()
  turn()
  turn()
  equal(#vim.api.nvim_tabpage_list_wins(0), 2)
  vim.cmd.tabonly()
end)

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

it("marks: the line that asks has a sign and words, until it is answered", function()
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
    fake:notify("approval/resolved", { approvalId = id, decision = "deny", by = "user" })
  end
  wait(function()
    return #require("cellgate.session").waiting() == 0
  end, "the end of both")
  turn()
  equal(marks(), {})
end)
