-- `json_text` reads JSON as text, strictly by RFC 8259. A tool's arguments are shown, edited and sent as their own
-- bytes: a decoder would round numbers, forget the order of members and turn empty arrays into objects.
local M = {}

local deepest = 256

---@class cellgate.JsonVisitor called for each part of a text, from the first to the last
---@field open? fun(bracket: string, at: integer)
---@field close? fun(bracket: string, at: integer, empty: boolean)
---@field comma? fun()
---@field key? fun(text: string, at: integer)
---@field value? fun(text: string, at: integer, to: integer) a string, number or word

local function fail(at, expected)
  error({ at = at, expected = expected }, 0)
end

local function skip(text, at)
  return text:match("^[ \t\r\n]*()", at)
end

local function scan_string(text, at)
  local from = at
  at = at + 1
  while true do
    local stop = text:find('[%z\1-\31"\\]', at)
    if not stop then
      fail(from, "the end of this string")
    end
    local byte = text:sub(stop, stop)
    if byte == '"' then
      return stop + 1
    elseif byte ~= "\\" then
      fail(stop, "no control character inside of a string")
    end
    local after = text:match('^["\\/bfnrt]()', stop + 1) or text:match("^u%x%x%x%x()", stop + 1)
    if not after then
      fail(stop, "an escape that JSON has")
    end
    at = after
  end
end

local function scan_number(text, at)
  local after = text:match("^-?0()", at)
  if not after or text:find("^%d", after) then
    after = text:match("^-?[1-9]%d*()", at) or fail(at, "a value")
  end
  after = text:match("^%.%d+()", after) or after
  after = text:match("^[eE][+-]?%d+()", after) or after
  if text:find("^[%w.+-]", after) then
    fail(at, "a number as JSON writes it")
  end
  return after
end

local words = { t = "true", f = "false", n = "null" }

local scan_value

local function scan_members(text, at, depth, visitor, bracket)
  local closing = bracket == "{" and "}" or "]"
  visitor.open(bracket, at)
  at = skip(text, at + 1)
  if text:sub(at, at) == closing then
    visitor.close(closing, at, true)
    return at + 1
  end
  while true do
    if bracket == "{" then
      if text:sub(at, at) ~= '"' then
        fail(at, "a member's name in double quotes")
      end
      local after = scan_string(text, at)
      visitor.key(text:sub(at, after - 1), at)
      at = skip(text, after)
      if text:sub(at, at) ~= ":" then
        fail(at, "a colon")
      end
      at = skip(text, at + 1)
    end
    at = skip(text, scan_value(text, at, depth + 1, visitor))
    local byte = text:sub(at, at)
    if byte == closing then
      visitor.close(closing, at, false)
      return at + 1
    elseif byte ~= "," then
      fail(at, "a comma or " .. closing)
    end
    visitor.comma()
    at = skip(text, at + 1)
  end
end

function scan_value(text, at, depth, visitor)
  if depth > deepest then
    fail(at, "at most " .. deepest .. " levels")
  end
  local byte = text:sub(at, at)
  if byte == "{" or byte == "[" then
    return scan_members(text, at, depth, visitor, byte)
  end
  local after
  if byte == '"' then
    after = scan_string(text, at)
  elseif words[byte] then
    local word = words[byte]
    after = text:sub(at, at + #word - 1) == word and at + #word or fail(at, "a value")
  else
    after = scan_number(text, at)
  end
  visitor.value(text:sub(at, after - 1), at, after)
  return after
end

local function nothing() end

---@param text string
---@param visitor cellgate.JsonVisitor
local function scan(text, visitor)
  for _, name in ipairs({ "open", "close", "comma", "key", "value" }) do
    visitor[name] = visitor[name] or nothing
  end
  local at = skip(text, scan_value(text, skip(text, 1), 1, visitor))
  if at <= #text then
    fail(at, "nothing after the value")
  end
end

--- Whether a text is one JSON object; if not, the line in which it is not, and what was expected there.
---@param text string
---@return boolean fits
---@return integer? line from 1
---@return string? problem
function M.is_object(text)
  local good, problem = pcall(scan, text, {})
  if good then
    if text:find("^%s*{") then
      return true
    end
    return false, 1, "expected an object: { … }"
  end
  if type(problem) ~= "table" then
    error(problem, 0)
  end
  local _, before = text:sub(1, problem.at - 1):gsub("\n", "")
  return false, before + 1, "expected " .. problem.expected
end

--- Whether a text is exactly one JSON value.
---@param text string
---@return boolean
function M.is_value(text)
  return (pcall(scan, text, {}))
end

-- By Unicode's table of well-formed sequences: nothing overlong, no surrogates.
local characters = {
  "^[\194-\223][\128-\191]()",
  "^\224[\160-\191][\128-\191]()",
  "^[\225-\236\238\239][\128-\191][\128-\191]()",
  "^\237[\128-\159][\128-\191]()",
  "^\240[\144-\191][\128-\191][\128-\191]()",
  "^[\241-\243][\128-\191][\128-\191][\128-\191]()",
  "^\244[\128-\143][\128-\191][\128-\191]()",
}

--- Whether a text is UTF-8, as JSON has to be. A buffer may hold anything, and vim.json passes it on.
---@param text string
---@return boolean
function M.is_utf8(text)
  local at = text:find("[\128-\255]")
  while at do
    local after
    for _, pattern in ipairs(characters) do
      after = after or text:match(pattern, at)
    end
    if not after then
      return false
    end
    at = text:find("[\128-\255]", after)
  end
  return true
end

--- The same value on several lines, with every key, string and number unchanged.
---@param text string
---@return string
function M.pretty(text)
  local out, level = {}, 0
  local function new_line()
    out[#out + 1] = "\n" .. ("  "):rep(level)
  end
  scan(text, {
    open = function(bracket)
      out[#out + 1] = bracket
      level = level + 1
      new_line()
    end,
    close = function(bracket, _, empty)
      level = level - 1
      if empty then
        out[#out] = nil
      else
        new_line()
      end
      out[#out + 1] = bracket
    end,
    comma = function()
      out[#out + 1] = ","
      new_line()
    end,
    key = function(key)
      out[#out + 1] = key .. ": "
    end,
    value = function(value)
      out[#out + 1] = value
    end,
  })
  return table.concat(out)
end

--- The text of what is below names of members, such as {"params", "action", "arguments"}; nil where there is no such.
---@param text string
---@param path string[]
---@return string?
function M.at(text, path)
  local keys, level, kinds = {}, 0, {}
  local from, to
  local function is_it(depth)
    if depth ~= #path then
      return false
    end
    for i, name in ipairs(path) do
      if keys[i] ~= name then
        return false
      end
    end
    return true
  end
  scan(text, {
    open = function(bracket, at)
      if not from and is_it(level) then
        from = at
      end
      level = level + 1
      kinds[level] = bracket
      keys[level] = nil
    end,
    close = function(_, at)
      keys[level] = nil
      level = level - 1
      if from and not to and is_it(level) then
        to = at
      end
    end,
    key = function(key)
      keys[level] = vim.json.decode(key)
    end,
    value = function(_, at, after)
      if not from and kinds[level] == "{" and is_it(level) then
        from, to = at, after - 1
      end
    end,
  })
  return from and text:sub(from, to)
end

return M
