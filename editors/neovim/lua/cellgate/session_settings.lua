-- `session_settings` is what sessions are created with: the setting `session`, and for single sessions what the user
-- typed at `:Cellgate session`, which also shows what holds.
local at_cursor = require("cellgate.at_cursor")
local config = require("cellgate.config")
local limits = require("cellgate.limits")
local list_window = require("cellgate.list_window")
local notify = require("cellgate.notify")
local profiles = require("cellgate.profiles")
local session = require("cellgate.session")
local text = require("cellgate.text")
local workspace = require("cellgate.workspace")

local M = {}

---@class cellgate.SessionSettings
---@field limits? table<string, string|number> by the words of `:Cellgate limits`
---@field timeout? number seconds
---@field env? table<string, string>
---@field cwd? string
---@field profile? string

---@type table<string, table<string, cellgate.SessionSettings>> by root and session: in place of the settings
local chosen = {}

local types = { limits = "table", timeout = "number", env = "table", cwd = "string", profile = "string" }

---@param settings cellgate.SessionSettings
---@return string? problem
local function misfit(settings)
  for name, value in pairs(settings) do
    if not types[name] then
      return ("session has no %s; it has limits, timeout, env, cwd and profile"):format(name)
    elseif type(value) ~= types[name] then
      return ("session.%s has to be a %s, and is a %s"):format(name, types[name], type(value))
    end
  end
  for name, value in pairs(settings.env or {}) do
    if type(name) ~= "string" or type(value) ~= "string" then
      return ("session.env: %s has to be a string"):format(name)
    end
  end
end

---@param settings cellgate.SessionSettings
---@return Limits? limits nil: none
---@return string? problem
local function limits_of(settings)
  local arguments = {}
  for word, value in pairs(settings.limits or {}) do
    arguments[#arguments + 1] = ("%s=%s"):format(word, value)
  end
  if settings.timeout then
    arguments[#arguments + 1] = ("timeout=%s"):format(settings.timeout)
  end
  if arguments[1] then
    return limits.parse(arguments)
  end
end

local function or_nil(value)
  return value ~= "" and value or nil
end

-- The settings, and over them what was typed for this session.
---@param root string
---@param id string
---@return cellgate.SessionSettings
local function settings_of(root, id)
  return vim.tbl_deep_extend("force", config.values.session, (chosen[root] or {})[id] or {})
end

--- What a session is created with.
---@param root string
---@param id string of the session
---@return table? params for session/create; nil: a setting does not fit
---@return string? problem
function M.create_params(root, id)
  local settings = settings_of(root, id)
  local problem = misfit(settings)
  if problem then
    return nil, problem
  end
  local parsed, wrong = limits_of(settings)
  if wrong then
    return nil, wrong
  end
  return {
    limits = parsed,
    env = settings.env and next(settings.env) and settings.env or nil,
    cwd = or_nil(settings.cwd),
    profile = or_nil(settings.profile),
  }
end

---@param kernel SessionKernel
---@return string
local function kernel_words(kernel)
  if kernel.server then
    return ("kernel %s on %s"):format(kernel.name, kernel.server)
  end
  return kernel.connectionFile and "kernel of " .. kernel.connectionFile or "kernel " .. kernel.name
end

---@param info SessionInfo?
---@param id string
---@param settings cellgate.SessionSettings
---@return string
local function words_of(info, id, settings)
  local names = vim.tbl_keys(settings.env or {})
  table.sort(names)
  local parsed = limits_of(settings)
  local kernel = info and info.kernel
  return table.concat({
    ("%s: %slimits %s"):format(
      id,
      kernel and kernel_words(kernel) .. "; " or "",
      limits.limits_words(info and info.limits or not info and parsed or nil)
    ),
    "profile " .. (info and info.profile or not info and or_nil(settings.profile) or "none"),
    "folder " .. (info and info.cwd or not info and or_nil(settings.cwd) or "the workspace"),
    "variables " .. (names[1] and table.concat(names, " ") or "none"),
  }, "; ")
end

--- What was typed: limits, and what needs a new kernel.
---@param arguments string[]
---@return string[]? limits as `:Cellgate limits` takes them
---@return cellgate.SessionSettings? others
---@return string? problem
function M.parse(arguments)
  local of_limits, others = {}, {}
  for _, argument in ipairs(arguments) do
    local name, value = argument:match("^([%w_.-]+)=(.*)$")
    local variable = name and name:match("^env%.([%a_][%w_]*)$")
    if name == "profile" or name == "cwd" then
      others[name] = value
    elseif variable then
      others.env = vim.tbl_extend("force", others.env or {}, { [variable] = value })
    elseif name and vim.tbl_contains(limits.words(), name .. "=") then
      of_limits[#of_limits + 1] = argument
    else
      return nil, nil, ("there is no setting %s; there are %s"):format(argument, table.concat(M.words(), " "))
    end
  end
  local _, problem = limits.parse(of_limits)
  if problem then
    return nil, nil, problem
  end
  return of_limits, others
end

---@return string[]
function M.words()
  return vim.list_extend({ "profile=", "cwd=", "env.NAME=" }, limits.words())
end

local function choose(root, id, settings)
  chosen[root] = chosen[root] or {}
  chosen[root][id] = vim.tbl_deep_extend("force", chosen[root][id] or {}, settings)
end

--- A kernel that runs goes on as it is, unless the user gives it up.
---@param here cellgate.Session
---@param id string of its session
---@param before_end fun() what a new one has is chosen here
function M.offer_end(here, id, before_end)
  local question = ("a new kernel alone has this: end that of %s, and lose its variables?"):format(text.visible(id))
  vim.ui.select({ "end the kernel", "leave it as it is" }, { prompt = question }, function(_, index)
    if index ~= 1 then
      return
    end
    before_end()
    here:request(
      "session/close",
      { sessionId = id },
      list_window.or_tell(function()
        here.kernels[id] = nil
        notify.show("the kernel was ended; the next cell starts the new one")
      end)
    )
  end)
end

local function as_settings(of_limits)
  local settings = {}
  for _, argument in ipairs(of_limits) do
    local word, value = argument:match("^([^=]+)=(.*)$")
    settings[word] = value
  end
  return settings
end

---@param root string
---@param cwd string? as it was typed
---@return string? problem
local function misfit_of_folder(root, cwd)
  local path = or_nil(cwd) and vim.fs.normalize(vim.startswith(cwd, "/") and cwd or root .. "/" .. cwd)
  if path and vim.fn.isdirectory(path) == 0 then
    return "there is no folder " .. text.visible(path)
  end
end

-- Goes on, unless there is no such profile.
---@param here cellgate.Session
---@param profile string? as it was typed
---@param go_on fun()
local function with_profile(here, profile, go_on)
  if not or_nil(profile) then
    return go_on()
  end
  here:request(
    "runtimes",
    {},
    list_window.or_tell(function(result)
      local names = vim.tbl_map(function(each)
        return each.name
      end, result.profiles)
      if vim.list_contains(names, profile) then
        return go_on()
      end
      local words = ("there is no profile %s; there are %s"):format(profile, table.concat(names, " "))
      notify.show(text.visible(words), vim.log.levels.WARN)
    end)
  )
end

---@param here cellgate.Session
---@param id string of its session
---@param of_limits string[]
---@param others cellgate.SessionSettings
local function change(here, id, of_limits, others)
  local runs = here.kernels[id] and here.kernels[id] ~= "dead"
  if not runs then
    choose(here.root, id, vim.tbl_extend("force", others, { limits = as_settings(of_limits) }))
    notify.show(("%s has this once its first cell runs"):format(id))
    return
  end
  if of_limits[1] then
    limits.act(here.root, id, of_limits)
  end
  if next(others) then
    M.offer_end(here, id, function()
      choose(here.root, id, others)
    end)
  end
end

---@param root string
---@param id string of the session
---@param arguments string[]
---@return string? problem
function M.act(root, id, arguments)
  local here = session.of(root)
  if not arguments[1] then
    return limits.show(here, id, function(info)
      return words_of(info, id, settings_of(root, id))
    end)
  end
  local of_limits, others, problem = M.parse(arguments)
  if not of_limits or not others then
    return problem
  end
  -- What cannot work is refused before a kernel ends for it.
  problem = misfit_of_folder(root, others.cwd)
  if problem then
    return problem
  end
  with_profile(here, others.profile, function()
    change(here, id, of_limits, others)
  end)
end

---@type cellgate.Command
M.command = {
  does = "Shows what holds for the session of the cell at the cursor, or changes it: limits at once, `profile=`, `cwd=` and"
    .. " `env.NAME=` with a new kernel, after you have confirmed that the one that runs ends.",
  arguments = "[setting=value ...]",
  act = function(arguments)
    return M.act(workspace.root(at_cursor.buffer()), at_cursor.kernel(), arguments)
  end,
  complete = function()
    local words = M.words()
    for _, name in ipairs(profiles.names(workspace.root(at_cursor.buffer()))) do
      words[#words + 1] = "profile=" .. name
    end
    return words
  end,
}

return M
