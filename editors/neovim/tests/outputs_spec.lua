-- Specs of `outputs`: what is kept of an execution's output.
local fixtures = require("fixtures")

it("outputs: the same lines wherever the text is cut", function()
  local text = "one\ntwo\nthree\n\nfive\n"
  for cut = 0, #text do
    local outputs = require("cellgate.outputs").new()
    outputs:add(fixtures.stream(text:sub(1, cut)))
    outputs:add(fixtures.stream(text:sub(cut + 1)))
    equal(fixtures.words(outputs), { "one", "two", "three", "", "five" })
  end
end)

it("outputs: the tail is kept, and the rest counted", function()
  local outputs = require("cellgate.outputs").new()
  for i = 1, 20000, 100 do
    local chunk = {}
    for j = i, i + 99 do
      chunk[#chunk + 1] = j .. "\n"
    end
    outputs:add(fixtures.stream(table.concat(chunk)))
  end
  local lines, hidden = fixtures.words(outputs, 3)
  equal(lines, { "19998", "19999", "20000" })
  equal(hidden, 19997)
  local whole = {}
  for i = 1, 20000 do
    whole[i] = i .. "\n"
  end
  outputs = require("cellgate.outputs").new()
  outputs:add(fixtures.stream("begin "))
  outputs:add(fixtures.stream(table.concat(whole)))
  lines, hidden = fixtures.words(outputs, 3)
  equal({ lines, hidden }, { { "19998", "19999", "20000" }, 19997 })
end)

it("outputs: clear_output waits, displays are updated, streams are kept apart", function()
  local outputs = require("cellgate.outputs").new()
  outputs:add(fixtures.stream("a\n"))
  outputs:add(fixtures.stream("b\n", "stderr"))
  outputs:add({ output = { output_type = "clear_output", wait = true } })
  equal(fixtures.words(outputs), { "a", "b" })
  local display = { output_type = "display_data", data = { ["text/plain"] = "old" }, transient = { display_id = "d" } }
  outputs:add({ output = display })
  equal(fixtures.words(outputs), { "old" })
  outputs:add({
    output = {
      output_type = "update_display_data",
      data = { ["text/plain"] = "new" },
      transient = { display_id = "d" },
    },
  })
  equal(fixtures.words(outputs), { "new" })
  outputs:add({ output = { output_type = "clear_output", wait = false } })
  equal(fixtures.words(outputs), {})
  outputs:add({ output = { output_type = "error", ename = "E", evalue = "one\ntwo", traceback = {} } })
  equal(fixtures.words(outputs), { "E: one" })
end)
