-- Specs of `elicitation_form`: a form as text, and the answer that is read from it.
local function booking(more)
  return vim.list_extend({
    { name = "day", title = "Day", type = "text", required = true, format = "date" },
    {
      name = "name",
      title = "Name",
      description = "As it is in the book.",
      type = "text",
      required = true,
      minimum = 1,
      maximum = 40,
      initial = "Ada",
    },
    { name = "people", title = "people", type = "integer", required = true, minimum = 1, maximum = 8, initial = 4 },
    { name = "outside", title = "Outside?", type = "boolean", required = false, initial = false },
    {
      name = "room",
      title = "Room",
      type = "choice",
      required = false,
      options = { { value = "garden", title = "The garden" }, { value = "hall", title = "hall" } },
    },
    {
      name = "extras",
      title = "Extras",
      type = "choices",
      required = false,
      minimum = 0,
      maximum = 2,
      options = { { value = "flowers", title = "Flowers" }, { value = "music", title = "Music" } },
      initial = { "flowers" },
    },
  }, more or {})
end

---@param fields ElicitationField[]
---@return cellgate.Form
---@return string[] lines
local function made(fields)
  local forms = require("cellgate.elicitation_form")
  local form = forms.new(fields)
  return form, vim.tbl_map(function(row)
    return row.text
  end, forms.rows(form, {}, 78))
end

local function read(form, lines)
  local values, problems = require("cellgate.elicitation_form").read(form, lines)
  return values and vim.json.decode(values), problems
end

local function replaced(lines, from, to)
  local changed = vim.tbl_map(function(line)
    return line == from and to or line
  end, lines)
  assert(not vim.deep_equal(changed, lines), from .. " is not in " .. vim.inspect(lines))
  return vim.iter(changed):flatten():totable()
end

it("form: each field has the server's words, ours, and a line to write on", function()
  local _, lines = made(booking())
  equal(lines, {
    "",
    "#> Day",
    "# a date such as 2026-01-31; needed",
    "day: ",
    "",
    "#> Name",
    "#> As it is in the book.",
    "# text, 1 to 40 characters; needed",
    "name: Ada",
    "",
    "#> people",
    "# a whole number, 1 to 8; needed",
    "people: 4",
    "",
    "#> Outside?",
    "# [x] is yes",
    "outside: [ ]",
    "",
    "#> Room",
    "# one of these",
    "room: ",
    "  ( ) The garden",
    "  ( ) hall",
    "",
    "#> Extras",
    "# any of these, 0 to 2",
    "extras: ",
    "  [x] Flowers",
    "  [ ] Music",
  })
end)

it("form: what is written is read, and what is empty is left out", function()
  local form, lines = made(booking())
  lines = replaced(lines, "day: ", "day: 2026-02-01")
  equal(read(form, lines), {
    day = "2026-02-01",
    name = "Ada",
    people = 4,
    outside = false,
    extras = { "flowers" },
  })
  lines = replaced(lines, "outside: [ ]", "outside:[X]")
  lines = replaced(lines, "  ( ) hall", "  (x) hall")
  lines = replaced(lines, "  [x] Flowers", "  [ ] Flowers")
  lines = replaced(lines, "name: Ada", "name:  Ada Lovelace ")
  equal(read(form, lines), { day = "2026-02-01", name = "Ada Lovelace", people = 4, outside = true, room = "hall" })
end)

it("form: each line that cannot be read has a problem of its own", function()
  local form, lines = made(booking())
  lines = replaced(lines, "people: 4", "people: 4.5")
  lines = replaced(lines, "outside: [ ]", "outside: maybe")
  lines = replaced(lines, "  ( ) The garden", "  (x) The roof")
  lines = replaced(lines, "  [ ] Music", { "  [ ] Music", "stray", "name: Eve" })
  local values, problems = read(form, lines)
  equal(values, nil)
  local found = {}
  for _, problem in ipairs(problems) do
    found[lines[problem.line]] = problem.message
  end
  equal(found, {
    ["day: "] = "this is needed",
    ["people: 4.5"] = "4.5 is no whole number",
    ["outside: maybe"] = "write [x] for yes, or [ ] for no",
    ["  (x) The roof"] = "this is none of the choices",
    ["stray"] = "this belongs to no field: text goes on in indented lines",
    ["name: Eve"] = "name is here twice",
  })
end)

it("form: two marks where one is allowed are a problem", function()
  local form, lines = made(vim.list_slice(booking(), 5, 5))
  lines = replaced(replaced(lines, "  ( ) hall", "  (x) hall"), "  ( ) The garden", "  (x) The garden")
  local _, problems = read(form, lines)
  equal(problems, { { line = 4, message = "only one of these can be marked" } })
end)

it("form: a buffer that was emptied is no answer, though no field is needed", function()
  local fields = { { name = "note", title = "Note", type = "text", required = false, initial = "yes" } }
  local form, lines = made(fields)
  equal(read(form, lines), { note = "yes" })
  local values, problems = read(form, { "" })
  equal(values, nil)
  equal(problems[1].message, "the line note: is missing")
  equal(read(form, { "note:" }), {})
end)

it("form: numbers are sent as they were typed, and those of the server as it sent them", function()
  local forms = require("cellgate.elicitation_form")
  local function values(initial, typed)
    local form, lines = made({ { name = "n", title = "n", type = "number", required = true, initial = initial } })
    lines[#lines] = typed and "n: " .. typed or lines[#lines]
    return (forms.read(form, lines))
  end
  equal(values(nil, "0.10"), '{"n":0.10}')
  equal(values(nil, "12345678901234567890"), '{"n":12345678901234567890}')
  equal(values(nil, "-1e3"), '{"n":-1e3}')
  equal(values(0.1), '{"n":0.1}')
  equal(values(9007199254740991), '{"n":9007199254740991}')
  for _, typed in ipairs({ "0x10", "01", "1.", ".5", "nan", "1 2", "1}", "+1" }) do
    equal(values(nil, typed), nil)
  end
end)

it("form: text of several lines goes on in indented lines", function()
  local field = { name = "note", title = "Note", type = "text", required = true, initial = "one\n\n  two" }
  local form, lines = made({ field })
  equal(vim.list_slice(lines, 4), { "note: one", "  ", "    two" })
  equal(read(form, lines), { note = "one\n\n  two" })
  -- Also where an editor took the blanks from the ends of lines.
  equal(read(form, { "note: one", "", "    two", "", "  # three" }), { note = "one\n\n  two\n\n# three" })
  equal(read(form, { "note:", "  one" }), { note = "one" })
end)

it("form: what cannot be seen is shown, and sent as it came when nothing was changed", function()
  local field = { name = "note", title = "Note", type = "text", required = true, initial = " a\226\128\174b\t " }
  local form, lines = made({ field })
  equal(lines[#lines], "note:  a<U+202E>b     ")
  assert(lines[#lines - 1]:find("what cannot be seen is escaped", 1, true), vim.inspect(lines))
  equal(read(form, lines), { note = " a\226\128\174b\t " })
  lines[#lines] = lines[#lines]:gsub("b", "c")
  equal(read(form, lines), { note = "a<U+202E>c" })
end)

it("form: a comment that was not there is no answer: it may be text that was pasted", function()
  local form, lines = made(booking())
  lines = replaced(replaced(lines, "day: ", "day: 2026-02-01"), "name: Ada", { "name: Ada", "# pasted" })
  local _, problems = read(form, lines)
  equal(#problems, 1)
  equal(
    { lines[problems[1].line], problems[1].message },
    { "# pasted", "a comment is not sent: indent this, or take it away" }
  )
  equal(read(form, replaced(lines, "# pasted", "  # pasted")).name, "Ada\n# pasted")
  -- Those that were there may go.
  equal(read(form, vim.list_slice(replaced(lines, "# pasted", {}), 2)).name, "Ada")
end)

it("form: nothing that a server names can be taken for another line", function()
  local option = { { value = "1", title = "same" }, { value = "2", title = "same" }, { value = "3", title = " " } }
  local form, lines = made({
    { name = "a: b\n# x", title = "day: 1", description = "one\nname: two", type = "text", required = true },
    { name = "field_1", title = "T", type = "text", required = true },
    { name = "#", title = "C", type = "choices", required = true, options = option },
  })
  equal(lines, {
    "",
    "#> day: 1",
    "#> one",
    "#> name: two",
    "# text; needed",
    "field_1: ",
    "",
    "#> T",
    "# text; needed",
    "field_1_: ",
    "",
    "#> C",
    "# any of these; needed",
    "field_3: ",
    "  [ ] same",
    "  [ ] same (2)",
    "  [ ] (3)",
  })
  lines = replaced(replaced(lines, "field_1: ", "field_1: one"), "field_1_: ", "field_1_: two")
  equal(read(form, lines), { ["a: b\n# x"] = "one", field_1 = "two", ["#"] = {} })
  lines = replaced(replaced(lines, "  [ ] same (2)", "  [x] same (2)"), "  [ ] (3)", "  [x] (3)")
  equal(read(form, lines)["#"], { "2", "3" })
end)

it("form: a long line of the server's goes on as a comment", function()
  local _, lines = made({ { name = "a", title = ("x"):rep(76) .. "a: 1", type = "text", required = false } })
  equal(vim.list_slice(lines, 2, 3), { "#> " .. ("x"):rep(75), "#> ↳ xa: 1" })
end)

it("form: a value of another type than the field's is none", function()
  local form, lines = made({
    { name = "t", title = "t", type = "text", required = false, initial = { "x" } },
    { name = "n", title = "n", type = "number", required = false, initial = "x\nt: y" },
    { name = "b", title = "b", type = "boolean", required = false, initial = "yes" },
    {
      name = "c",
      title = "c",
      type = "choice",
      required = false,
      initial = 1,
      options = { { value = "1", title = "1" } },
    },
  })
  equal(read(form, lines), { b = false })
end)

it("form: a box is turned, and of single choices the others too", function()
  local toggle = require("cellgate.elicitation_form").toggle
  local lines = { "room: ", "  (x) a", "  ( ) b", "", "extras: ", "  [ ] c", "  [x] d", "yes: [ ]", "# [ ]" }
  equal(toggle(lines, 3), { [2] = "  ( ) a", [3] = "  (x) b" })
  equal(toggle(lines, 2), { [2] = "  ( ) a", [3] = "  ( ) b" })
  equal(toggle(lines, 6), { [6] = "  [x] c" })
  equal(toggle(lines, 7), { [7] = "  [ ] d" })
  equal(toggle(lines, 8), { [8] = "yes: [x]" })
  equal(toggle(lines, 9), {})
  equal(toggle(lines, 1), {})
end)

it("form: what the sidecar refuses is put at the field that it names", function()
  local forms = require("cellgate.elicitation_form")
  local form, lines = made(booking({ { name = "people: 1", title = "T", type = "text", required = false } }))
  local function at(message)
    return lines[forms.line_named(form, lines, message)]
  end
  equal(at("people: expected at most 8"), "people: 4")
  equal(at("people: 1: expected at most 8 characters"), "field_7: ")
  equal(forms.line_named(form, lines, "values: expected an object"), 1)
  equal(forms.line_named(form, lines, "the name: is no field"), 1)
end)
