-- Specs of `approval_reason`: a denial with words for the code.
local asking = require("asking")
local start, ask, answers, see, type_keys = asking.start, asking.ask, asking.answers, asking.see, asking.type_keys
local turn, screen, resize, enter, window_of = asking.turn, asking.screen, asking.resize, asking.enter, asking.window_of
local is_shown = asking.is_shown

local function ask_reason(fake)
  ask(fake, "a")
  enter()
  see(600)
  type_keys("D")
  return assert(window_of("cellgate-reason"))
end

it("reason: what is typed is sent, all lines of it", function()
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

it("reason: what its keys do is shown on a narrow screen too", function()
  local fake = start()
  resize(40, 24)
  ask_reason(fake)
  assert(is_shown("Enter denies, Esc Esc goes back"), table.concat(screen(), "\n"))
  vim.cmd.stopinsert()
  type_keys("<Esc>")
  assert(window_of("cellgate-approval"))
  equal(answers(fake), {})
end)
