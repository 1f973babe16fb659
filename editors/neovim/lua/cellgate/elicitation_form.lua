-- `elicitation_form` writes the form of a tool server's question as text that is edited like any other, and reads the
-- answer from it. Lines that begin with `#` are comments, those of `#>` in the server's words; a field is a line
-- `name: value`, its text goes on in indented lines, and its choices are boxes. A value that was not touched is sent as
-- it came. A secret is kept beside the text, which has dots for it.
local text = require("cellgate.text")

local M = {}

---@class cellgate.FormField
---@field field ElicitationField
---@field label string before the colon; never twice in a form
---@field options { label: string, value: string }[] never twice in a field
---@field initial string[] what was written for it: the value, and the lines that follow

---@class cellgate.FormProblem
---@field line integer from 1
---@field message string

---@class cellgate.Form
---@field fields cellgate.FormField[]
---@field secrets table<cellgate.FormField, string> that were typed
---@field comments table<string, true> those that were written

-- --- making

local function of_type(value, name)
  return type(value) == name and value or nil
end

-- The shortest text that means exactly this number.
local function number_words(number)
  if number == math.floor(number) and math.abs(number) < 2 ^ 53 then
    return ("%.0f"):format(number)
  end
  local words = ("%.15g"):format(number)
  return tonumber(words) == number and words or ("%.17g"):format(number)
end

local function boxes(field, options)
  local chosen = {}
  for _, value in ipairs(of_type(field.initial, "table") or { of_type(field.initial, "string") }) do
    chosen[value] = true
  end
  return vim.tbl_map(function(option)
    local mark = chosen[option.value] and "x" or " "
    return ((field.type == "choice" and "  (%s) %s" or "  [%s] %s")):format(mark, option.label)
  end, options)
end

-- What a field holds beforehand, as text.
local function initial_lines(field, options)
  local value = field.initial
  if field.type == "choice" or field.type == "choices" then
    return vim.list_extend({ "" }, boxes(field, options))
  elseif field.type == "boolean" then
    return { value == true and "[x]" or "[ ]" }
  elseif field.type ~= "text" then
    return { type(value) == "number" and number_words(value) or "" }
  end
  local lines = vim.tbl_map(text.visible, vim.split(of_type(value, "string") or "", "\n", { plain = true }))
  for i = 2, #lines do
    lines[i] = "  " .. lines[i]
  end
  return lines
end

-- A name that is no plain word could be mistaken for something else.
local function label_of(field, number, taken)
  local label = field.name:find("^[%w_.-]+$") and #field.name <= 40 and field.name or ("field_%d"):format(number)
  while taken[label] do
    label = label .. "_"
  end
  taken[label] = true
  return label
end

local function options_of(field)
  local options, taken = {}, {}
  for i, option in ipairs(field.options or {}) do
    local label = vim.trim(text.visible(option.title))
    if label == "" or taken[label] then
      label = vim.trim(("%s (%s)"):format(label, text.visible(option.value)))
    end
    while taken[label] do
      label = ("%s (%d)"):format(label, i)
    end
    taken[label] = true
    options[i] = { label = label, value = option.value }
  end
  return options
end

---@param fields ElicitationField[]
---@return cellgate.Form
function M.new(fields)
  local form, taken = { fields = {}, secrets = {}, comments = {} }, {}
  for i, field in ipairs(fields) do
    local options = options_of(field)
    form.fields[i] = {
      field = field,
      label = label_of(field, i, taken),
      options = options,
      initial = initial_lines(field, options),
    }
  end
  return form
end

-- --- writing

local formats = {
  email = "an e-mail address",
  uri = "a URI",
  date = "a date such as 2026-01-31",
  ["date-time"] = "a time such as 2026-01-31T09:30:00Z",
}

local kinds = {
  text = "text",
  number = "a number",
  integer = "a whole number",
  boolean = "[x] is yes",
  choice = "one of these",
  choices = "any of these",
}

---@param field ElicitationField
local function bounds_words(field)
  local low, high = field.minimum, field.maximum
  if not low and not high then
    return ""
  end
  local unit = field.type == "text" and " characters" or ""
  local range = low and high and number_words(low) .. " to " .. number_words(high)
    or low and "at least " .. number_words(low)
    or "at most " .. number_words(high)
  return ", " .. range .. unit
end

-- What a value has to be, in our words.
---@param each cellgate.FormField
---@return cellgate.Row[]
local function kind_rows(each)
  local field = each.field
  if field.secret then
    return { { text = "# <CR> on its line asks for it, and shows nothing of it; needed", group = "Comment" } }
  end
  local kind = field.format and formats[field.format] or kinds[field.type]
  local needed = field.required and "; needed" or ""
  local rows = { { text = ("# %s%s%s"):format(kind, bounds_words(field), needed), group = "Comment" } }
  local came = field.type == "text" and of_type(field.initial, "string")
  if came and came:gsub("\n", "\n  ") ~= table.concat(each.initial, "\n") then
    rows[2] = { text = "# what cannot be seen is escaped; unchanged, it is sent as it came", group = "Comment" }
  end
  return rows
end

--- The server's words as comments, in rows, so that none of them begins a line of the screen.
---@param words string
---@param width integer
---@return cellgate.Row[]
function M.quoted(words, width)
  local rows = {}
  for _, line in ipairs(vim.split(words, "\n", { plain = true })) do
    for _, row in ipairs(text.wrap(text.visible(line), width - 3, "↳ ")) do
      rows[#rows + 1] = { text = "#> " .. row, group = "String" }
    end
  end
  return rows
end

--- The form's rows, below those of the question.
---@param form cellgate.Form
---@param question cellgate.Row[] comments
---@param width integer
---@return cellgate.Row[]
function M.rows(form, question, width)
  local rows = vim.list_slice(question)
  for _, each in ipairs(form.fields) do
    local field = each.field
    rows[#rows + 1] = { text = "" }
    vim.list_extend(rows, M.quoted(field.title, width))
    if field.description then
      vim.list_extend(rows, M.quoted(field.description, width))
    end
    vim.list_extend(rows, kind_rows(each))
    rows[#rows + 1] = { text = each.label .. ": " .. each.initial[1] }
    for i = 2, #each.initial do
      rows[#rows + 1] = { text = each.initial[i] }
    end
  end
  for _, row in ipairs(rows) do
    form.comments[row.text] = vim.startswith(row.text, "#") or nil
  end
  return rows
end

--- The line with the box at it turned: of single choices, the others of the field as well.
---@param lines string[]
---@param at integer from 1
---@return table<integer, string> changed lines
function M.toggle(lines, at)
  local before, mark, after = lines[at]:match("^([%w_.-]*:? *%[)([ xX])(%].*)$")
  if before then
    return { [at] = before .. (mark == " " and "x" or " ") .. after }
  end
  local changed = {}
  local function turn(line, is_chosen)
    changed[line] = lines[line]:gsub("^( +%()[ xX]%)", "%1" .. (is_chosen and "x" or " ") .. ")")
  end
  if not lines[at]:find("^ +%([ xX]%)") then
    return changed
  end
  local first, last = at, at
  while first > 1 and lines[first - 1]:find("^ +%([ xX]%)") do
    first = first - 1
  end
  while last < #lines and lines[last + 1]:find("^ +%([ xX]%)") do
    last = last + 1
  end
  for line = first, last do
    turn(line, line == at and lines[at]:find("^ +%( %)") ~= nil)
  end
  return changed
end

-- --- secrets

local dots = "•••"

--- The secret whose line it is.
---@param form cellgate.Form
---@param line string
---@return cellgate.FormField?
function M.secret_at(form, line)
  local label = line:match("^([%w_.-]+):")
  for _, each in ipairs(form.fields) do
    if each.field.secret and each.label == label then
      return each
    end
  end
end

--- Keeps what was typed.
---@param form cellgate.Form
---@param each cellgate.FormField
---@param secret string
---@return string line that stands for it
function M.keep_secret(form, each, secret)
  form.secrets[each] = secret
  return ("%s: %s"):format(each.label, dots)
end

-- --- reading

---@class cellgate.Written what a user wrote for a field
---@field line integer of its name, from 1
---@field lines string[] the value, and the lines that follow

-- Lines with what they are for; what is for nothing is a problem.
---@param form cellgate.Form
---@param lines string[]
---@return table<cellgate.FormField, cellgate.Written>
---@return cellgate.FormProblem[]
local function split(form, lines)
  local by_label, written, problems = {}, {}, {}
  for _, each in ipairs(form.fields) do
    by_label[each.label] = each
  end
  local current, blanks = nil, 0
  for i, line in ipairs(lines) do
    local label, value = line:match("^([%w_.-]+):(.*)$")
    local field = label and by_label[label]
    if line:find("^#") then
      -- One of the user's may be text that was pasted here.
      if not form.comments[line] then
        problems[#problems + 1] = { line = i, message = "a comment is not sent: indent this, or take it away" }
      end
    elseif field and not written[field] then
      current, blanks = { line = i, lines = { (value:gsub("^ ", "")) } }, 0
      written[field] = current
    elseif field then
      problems[#problems + 1] = { line = i, message = ("%s is here twice"):format(label) }
    elseif line == "" then
      blanks = blanks + 1
    elseif current and line:find("^%s") then
      for _ = 1, blanks do
        table.insert(current.lines, "")
      end
      blanks = 0
      table.insert(current.lines, line)
    else
      problems[#problems + 1] = { line = i, message = "this belongs to no field: text goes on in indented lines" }
    end
  end
  return written, problems
end

-- JSON's, and as it was typed.
local function as_json_number(words)
  local whole, rest = words:match("^%-?(%d+)(.*)$")
  if not whole or whole:find("^0%d") then
    return nil
  end
  rest = rest:gsub("^%.%d+", "", 1):gsub("^[eE][+-]?%d+", "", 1)
  return rest == "" and words or nil
end

local function without_indentation(line)
  return (line:gsub("^  ", ""):gsub("^\t", ""))
end

-- Each reads what was written for a field: its JSON, or nothing when it is left empty, or a problem.
---@type table<string, fun(each: cellgate.FormField, lines: string[], form: cellgate.Form): string?, string?, integer?>
local read = {}

function read.text(each, lines)
  if vim.deep_equal(lines, each.initial) then
    local value = of_type(each.field.initial, "string")
    return value and value ~= "" and vim.json.encode(value) or nil
  end
  local whole = { lines[1] }
  for i = 2, #lines do
    whole[i] = without_indentation(lines[i])
  end
  local words = vim.trim(table.concat(whole, "\n"))
  return words ~= "" and vim.json.encode(words) or nil
end

function read.secret(each, lines, form)
  local words = vim.trim(table.concat(lines, "\n"))
  if words ~= "" and words ~= dots then
    return nil, "<CR> on this line asks for it: it is not written here"
  end
  local secret = words == dots and form.secrets[each]
  return secret and vim.json.encode(secret) or nil
end

-- Of fields whose value is on the line of their name.
local function one_line(lines)
  if #lines > 1 then
    return nil, "this takes one line"
  end
  return vim.trim(lines[1])
end

local function read_number(_, lines)
  local words, problem = one_line(lines)
  if not words or words == "" then
    return nil, problem
  end
  local number = as_json_number(words)
  return number, not number and ("%s is no number such as 12 or 0.5"):format(words) or nil
end
read.number = read_number

function read.integer(each, lines)
  local number, problem = read_number(each, lines)
  if number and not number:find("^%-?%d+$") then
    return nil, ("%s is no whole number"):format(number)
  end
  return number, problem
end

function read.boolean(_, lines)
  local words, problem = one_line(lines)
  if not words or words == "" then
    return nil, problem
  end
  local mark = words:match("^%[%s*([xX]?)%s*%]$")
  if not mark then
    return nil, "write [x] for yes, or [ ] for no"
  end
  return mark == "" and "false" or "true"
end

-- The options whose boxes are marked, in the form's order.
local function chosen_of(each, lines)
  if vim.trim(lines[1]) ~= "" then
    return nil, "mark the boxes below this line"
  end
  local by_label, is_chosen, chosen = {}, {}, {}
  for _, option in ipairs(each.options) do
    by_label[option.label] = option
  end
  for i = 2, #lines do
    local mark, label = lines[i]:match("^%s+[%[(]([ xX]?)[%])]%s?(.*)$")
    local option = label and by_label[vim.trim(label)]
    if not option and vim.trim(lines[i]) ~= "" then
      return nil, "this is none of the choices", i - 1
    elseif option then
      is_chosen[option] = is_chosen[option] or mark:lower() == "x"
    end
  end
  for _, option in ipairs(each.options) do
    chosen[#chosen + 1] = is_chosen[option] and vim.json.encode(option.value) or nil
  end
  return chosen
end

function read.choice(each, lines)
  local chosen, problem, line = chosen_of(each, lines)
  if chosen and #chosen > 1 then
    return nil, "only one of these can be marked"
  end
  return chosen and chosen[1], problem, line
end

function read.choices(each, lines)
  local chosen, problem, line = chosen_of(each, lines)
  if not chosen or (#chosen == 0 and not each.field.required) then
    return nil, problem, line
  end
  return "[" .. table.concat(chosen, ",") .. "]"
end

--- The answer that is written there. Bounds and formats are the sidecar's to check.
---@param form cellgate.Form
---@param lines string[]
---@return string? values JSON
---@return cellgate.FormProblem[] problems why there is none
function M.read(form, lines)
  local written, problems = split(form, lines)
  local members = {}
  for _, each in ipairs(form.fields) do
    local found = written[each]
    local json, problem, offset
    if found then
      json, problem, offset = read[each.field.secret and "secret" or each.field.type](each, found.lines, form)
      problem = problem or (not json and each.field.required and "this is needed") or nil
    else
      -- One that is to stay empty keeps its line, so that an emptied buffer is no answer.
      problem = ("the line %s: is missing"):format(each.label)
    end
    if problem then
      problems[#problems + 1] = { line = (found and found.line or #lines) + (offset or 0), message = problem }
    elseif json then
      members[#members + 1] = vim.json.encode(each.field.name) .. ":" .. json
    end
  end
  if #problems > 0 then
    return nil, problems
  end
  return "{" .. table.concat(members, ",") .. "}", problems
end

--- The line of the field that the sidecar refused, from 1: its message is "name: why". The first, where it names none.
---@param form cellgate.Form
---@param lines string[]
---@param message string
---@return integer
function M.line_named(form, lines, message)
  local written = split(form, lines)
  local best, length = 1, 0
  for _, each in ipairs(form.fields) do
    local name = each.field.name
    if written[each] and #name > length and vim.startswith(message, name .. ": ") then
      best, length = written[each].line, #name
    end
  end
  return best
end

return M
