-- `limits` shows and changes the limits of a session.
local at_cursor = require("cellgate.at_cursor")
local list_window = require("cellgate.list_window")
local notify = require("cellgate.notify")
local session = require("cellgate.session")
local workspace = require("cellgate.workspace")

local M = {}

-- How each is typed, in the order in which they are shown.
local names = {
  { word = "memory", field = "memoryBytes", size = true },
  { word = "processes", field = "processCount" },
  { word = "cores", field = "cpuCores" },
  { word = "cpu-seconds", field = "cpuSeconds" },
  { word = "open-files", field = "openFiles" },
  { word = "file-size", field = "fileSizeBytes", size = true },
  { word = "disk", field = "diskBytes", size = true },
  { word = "timeout", field = "wallSeconds" },
}

local units = { k = 2 ^ 10, m = 2 ^ 20, g = 2 ^ 30, t = 2 ^ 40 }

--- A number of bytes for people.
---@param bytes number
---@return string
function M.bytes_words(bytes)
  for _, unit in ipairs({ "T", "G", "M", "K" }) do
    local size = units[unit:lower()]
    if bytes >= size then
      return ("%.4g %siB"):format(bytes / size, unit)
    end
  end
  return ("%d B"):format(bytes)
end

local function value_of(name, typed)
  local number, unit = typed:match("^(%d+%.?%d*)(%a?)$")
  number = tonumber(number)
  if not number or (unit ~= "" and not (name.size and units[unit:lower()])) then
    return nil
  end
  local value = number * (units[unit:lower()] or 1)
  return value == math.floor(value) and math.floor(value) or value
end

--- The limits that are typed as memory=4G timeout=60.
---@param arguments string[]
---@return Limits? limits
---@return string? problem
function M.parse(arguments)
  local limits = {}
  for _, argument in ipairs(arguments) do
    local word, typed = argument:match("^([^=]+)=(.*)$")
    local name = vim.iter(names):find(function(each)
      return each.word == word
    end)
    local value = name and value_of(name, typed)
    if not name then
      return nil, ("there is no limit %s; there are %s"):format(argument, table.concat(M.words(), " "))
    elseif not value then
      return nil, ("%s: a number is expected%s"):format(argument, name.size and ", such as 512M or 4G" or "")
    end
    limits[name.field] = value
  end
  return limits
end

---@return string[]
function M.words()
  return vim.tbl_map(function(name)
    return name.word .. "="
  end, names)
end

---@param limits Limits?
---@return string
function M.limits_words(limits)
  local words = {}
  for _, name in ipairs(names) do
    local value = (limits or {})[name.field]
    if value then
      words[#words + 1] = ("%s %s"):format(name.word, name.size and M.bytes_words(value) or value)
    end
  end
  return words[1] and table.concat(words, ", ") or "none beside the defaults"
end

--- Shows the session that runs, in words; of nil where none does.
---@param here cellgate.Session
---@param id string of the session
---@param words_of fun(info?: SessionInfo): string
function M.show(here, id, words_of)
  here:request(
    "session/list",
    {},
    list_window.or_tell(function(result)
      notify.show(words_of(vim.iter(result.sessions):find(function(each)
        return each.sessionId == id
      end)))
    end)
  )
end

---@param root string
---@param id string of the session
---@param arguments string[]
---@return string? problem
function M.act(root, id, arguments)
  local here = session.of(root)
  if not arguments[1] then
    return M.show(here, id, function(info)
      return info and ("%s: %s"):format(id, M.limits_words(info.limits)) or "no kernel runs here"
    end)
  end
  local limits, problem = M.parse(arguments)
  if problem then
    return problem
  end
  here:request(
    "limits/set",
    { sessionId = id, limits = limits },
    list_window.or_tell(function(result)
      local later = #result.afterRestart > 0
        and ("; after :Cellgate restart: %s"):format(table.concat(result.afterRestart, ", "))
      notify.show(M.limits_words(result.limits) .. (later or ""))
    end)
  )
end

---@type cellgate.Command
M.command = {
  does = "Shows the limits of the kernel, or changes them: `:Cellgate limits memory=4G timeout=60`.",
  arguments = "[limit=value ...]",
  act = function(arguments)
    return M.act(workspace.root(at_cursor.buffer()), at_cursor.kernel(), arguments)
  end,
  complete = M.words,
}

return M
