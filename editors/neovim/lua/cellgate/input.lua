-- `input` answers code that reads a line with input(). The question is shown at the cell, and the user answers it by a
-- command, because what they are typing elsewhere is not meant for the code.
local session = require("cellgate.session")
local text = require("cellgate.text")

local M = {}

local function first_that_reads()
  for _, each in pairs(session.all) do
    for _, id in ipairs(each.order) do
      if each.executions[id].input then
        return each.executions[id]
      end
    end
  end
end

---@param execution? cellgate.Execution at the cursor; else the first that reads
---@param end_of_file boolean
---@return string? problem
function M.answer(execution, end_of_file)
  execution = execution and execution.input and execution or first_that_reads()
  if not execution then
    return "no code reads a line"
  end
  local input = execution.input
  if end_of_file then
    input.answer(nil)
    return
  end
  local prompt = text.visible((input.prompt:gsub("\n", " ")))
  if input.password then
    local good, value = pcall(vim.fn.inputsecret, { prompt = prompt, cancelreturn = vim.NIL })
    if good and type(value) == "string" and execution.input == input then
      input.answer(value)
    end
    return
  end
  vim.ui.input({ prompt = prompt }, function(value)
    -- Given up: the code goes on waiting.
    if value and execution.input == input then
      input.answer(value)
    end
  end)
end

return M
