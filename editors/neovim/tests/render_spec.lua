-- Specs of `render` and `places`: what drawing output costs, and where it is shown when the text moves.
local fixtures = require("fixtures")
local start = require("with_fake")

local function marks(buffer)
  return vim.api.nvim_buf_get_extmarks(buffer, vim.api.nvim_get_namespaces().cellgate, 0, -1, { details = true })
end

-- The rows below lines of a buffer: line number to text.
local function below(buffer)
  local found = {}
  for _, mark in ipairs(marks(buffer)) do
    if mark[4].virt_lines and not mark[4].invalid then
      local rows = vim.tbl_map(function(row)
        return table.concat(vim.tbl_map(function(chunk)
          return chunk[1]
        end, row))
      end, mark[4].virt_lines)
      found[mark[2] + 1] = (found[mark[2] + 1] or "") .. table.concat(rows, "\n")
    end
  end
  return found
end

-- Runs a cell of the current buffer, which prints `printed`.
local function ran(here, first, last, printed)
  local buffer = vim.api.nvim_get_current_buf()
  local lines = vim.api.nvim_buf_get_lines(buffer, first + 1, last + 1, false)
  local execution = here:execute({
    code = table.concat(lines, "\n") .. "\n",
    cell = { uri = require("cellgate.workspace").uri(buffer), line = first + 1 },
  })
  require("cellgate.places").put(execution, buffer, first, last, first + 1)
  execution.outputs:add(fixtures.stream(printed))
  return execution
end

local function cells_of(...)
  local buffer = vim.api.nvim_create_buf(true, false)
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, { ... })
  vim.bo[buffer].filetype = "python"
  vim.api.nvim_set_current_buf(buffer)
  return buffer
end

for what, line in pairs({
  plain = ("x"):rep(8000),
  coloured = ("\27[31mred\27[0m \27[1;32mgreen\27[m "):rep(250),
  ["without a reset"] = ("\27[31mr\27[42mg"):rep(700),
  ["of other scripts"] = ("漢é"):rep(1600),
}) do
  it("output: a redraw with long lines costs no typing: " .. what, function()
    local here = start().connect("/tmp")
    local buffer = cells_of("# %%", "1")
    local execution = ran(here, 0, 1, "")
    local render = require("cellgate.render")
    local costs = {}
    for i = 1, 15 do
      -- All of what is shown is new each time.
      execution.outputs:add(fixtures.stream((line .. i .. "\n"):rep(30)))
      local began = os.clock()
      render.refresh(execution.id)
      render.draw_dirty()
      costs[i] = (os.clock() - began) * 1000
    end
    table.sort(costs)
    assert(below(buffer)[2]:find("… %d+ more", 1), below(buffer)[2])
    -- In processor time of the middle one: what else the machine does is not counted.
    assert(costs[8] < 25, "a redraw takes " .. costs[8] .. " ms")
  end)
end

it("output: a long line's end is shown, in as many rows as there are to be, and the rest is counted", function()
  local here = start().connect("/tmp")
  require("cellgate.config").values.output_lines = 3
  local buffer = cells_of("# %%", "1")
  local width = vim.fn.getwininfo(vim.api.nvim_get_current_win())[1].width
  ran(here, 0, 1, "first\n" .. ("a"):rep(width) .. ("b"):rep(width) .. ("c"):rep(width) .. "\nlast\n")
  wait(function()
    return below(buffer)[2]
  end, "the output")
  equal(below(buffer)[2], ("… 2 more: :Cellgate output\n%s\n%s\nlast"):format(("b"):rep(width), ("c"):rep(width)))
end)

it("output: colours go on from a line that is not shown, and outlive a change of the colour scheme", function()
  local here = start().connect("/tmp")
  require("cellgate.config").values.output_lines = 1
  local buffer = cells_of("# %%", "1")
  ran(here, 0, 1, "\27[38;5;201mfirst\nsecond\n")
  wait(function()
    return below(buffer)[2]
  end, "the output")
  local rows = vim.iter(marks(buffer)):find(function(mark)
    return mark[4].virt_lines
  end)[4].virt_lines
  -- As the extmark gives it back, one group is no list.
  equal(vim.iter(rows[2][1]):flatten():totable(), { "second", "CellgateFg201" })
  -- A window with all output may show a colour that no cell does any more.
  require("cellgate.places").clear(buffer)
  vim.cmd.colorscheme("blue")
  equal(vim.api.nvim_get_hl(0, { name = "CellgateFg201" }).fg, 0xff00ff)
  vim.cmd.colorscheme("default")
end)

it("output: fits the narrowest of the windows that show it, and is fitted again when they change", function()
  local here = start().connect("/tmp")
  local buffer = cells_of("# %%", "1")
  ran(here, 0, 1, ("x"):rep(60) .. "\n")
  wait(function()
    return below(buffer)[2] == ("x"):rep(60)
  end, "one row")
  vim.cmd("vsplit | vertical resize 24")
  vim.cmd.redraw()
  vim.api.nvim_exec_autocmds("VimResized", {})
  wait(function()
    return below(buffer)[2] == ("x"):rep(24) .. "\n" .. ("x"):rep(24) .. "\n" .. ("x"):rep(12)
  end, function()
    return vim.inspect(below(buffer))
  end)
  vim.cmd.close()
  vim.api.nvim_exec_autocmds("VimResized", {})
  wait(function()
    return below(buffer)[2] == ("x"):rep(60)
  end, "one row again")
end)

it(
  "output: is hidden with lines that are deleted, comes back with them, and stays where a formatter put the same",
  function()
    local here = start().connect("/tmp")
    local buffer = cells_of("# %%", "a", "b", "# %%", "c", "# %%", "d")
    vim.bo[buffer].undolevels = vim.bo[buffer].undolevels
    ran(here, 0, 2, "first\n")
    ran(here, 3, 4, "second\n")
    ran(here, 5, 6, "third\n")
    local function stands(expected)
      wait(function()
        return vim.deep_equal(below(buffer), expected)
      end, function()
        return vim.inspect(expected) .. ", not " .. vim.inspect(below(buffer))
      end)
    end
    stands({ [3] = "first", [5] = "second", [7] = "third" })
    vim.cmd("4,5delete")
    stands({ [3] = "first", [5] = "third" })
    vim.cmd("undo")
    stands({ [3] = "first", [5] = "second", [7] = "third" })
    vim.cmd("%!cat")
    stands({ [3] = "first", [5] = "second", [7] = "third" })
    -- Its last line alone takes nothing away.
    vim.cmd("3delete")
    stands({ [2] = "first", [4] = "second", [6] = "third" })
    vim.cmd("1,2delete | 1put! ='# %%'")
    stands({ [3] = "second", [5] = "third" })
  end
)

it("output: what was cleared does not come back with the next line", function()
  local fake = start()
  local here = fake.connect("/tmp")
  local buffer = cells_of("# %%", "1")
  local execution = ran(here, 0, 1, "")
  local function prints(words)
    fake:notify(
      "execute/output",
      vim.tbl_extend("error", { executionId = execution.id, seq = 0, count = 1 }, fixtures.stream(words))
    )
  end
  prints("one\n")
  wait(function()
    return below(buffer)[2] == "one"
  end, "the output")
  vim.api.nvim_win_set_cursor(0, { 1, 0 })
  require("cellgate.commands").run({ fargs = { "clear" } })
  prints("two\n")
  wait(function()
    return #execution.outputs.items[1].lines == 3
  end, "the next line")
  vim.wait(100)
  equal(marks(buffer), {})
end)

it("output: frames are where their lines are now, in a buffer without a file too", function()
  local here = start().connect("/tmp")
  local buffer = cells_of("# %%", "def f():", "  1 / 0", "# %%", "f()")
  local uri = require("cellgate.workspace").uri(buffer)
  ran(here, 0, 2, "")
  local execution = ran(here, 3, 4, "")
  execution.result = {
    error = {
      ename = "E",
      evalue = "",
      frames = { { uri = uri, line = 4, ["function"] = "<cell>" }, { uri = uri, line = 2, ["function"] = "f" } },
    },
  }
  vim.api.nvim_buf_set_lines(buffer, 0, 0, false, { "new", "new", "new" })
  vim.api.nvim_buf_set_lines(buffer, 6, 6, false, { "new" })
  vim.api.nvim_win_set_cursor(0, { 9, 0 })
  require("cellgate.commands").run({ fargs = { "frames" } })
  equal(
    vim.tbl_map(function(item)
      return { item.bufnr, item.lnum }
    end, vim.fn.getqflist()),
    { { buffer, 6 }, { buffer, 9 } }
  )
  vim.cmd.cclose()
end)
