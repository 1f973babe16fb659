-- `profiles` is `:Cellgate profiles`: the profiles that a session may have, and what each gives.
local at_cursor = require("cellgate.at_cursor")
local config_files = require("cellgate.config_files")
local limits = require("cellgate.limits")
local list_window = require("cellgate.list_window")
local session = require("cellgate.session")
local workspace = require("cellgate.workspace")

local M = {}

local checks = {
  off = "code is not checked",
  advise = "errors in code are shown",
  strict = "code with an error is refused",
}

--- What it gives: "imports 40 modules; timeout 30; code with an error is refused".
---@param profile Profile
---@return string
function M.words(profile)
  local count = profile.modules and #profile.modules
  local parts = { count and ("imports %d module%s"):format(count, count == 1 and "" or "s") or "imports any module" }
  if profile.notInstalled and profile.notInstalled[1] then
    parts[1] = ("%s, %d of them not installed"):format(parts[1], #profile.notInstalled)
  end
  if profile.domains[1] then
    parts[#parts + 1] = "connects unasked to " .. table.concat(profile.domains, ", ")
  end
  if profile.limits and next(profile.limits) then
    parts[#parts + 1] = limits.limits_words(profile.limits)
  end
  if profile.askBeforePrograms then
    parts[#parts + 1] = "asks before code starts a program"
  end
  parts[#parts + 1] = checks[profile.validation]
  return table.concat(parts, "; ")
end

--- What the profile of a session gives, by its name.
---@param name string?
---@param profiles Profile[]
---@return string
function M.words_of(name, profiles)
  if not name then
    return "none: any module may be imported, code is not checked"
  end
  local found = vim.iter(profiles):find(function(each)
    return each.name == name
  end)
  return ("%s: %s"):format(name, found and M.words(found) or "which is not there any more")
end

--- For completion.
---@param root string
---@return string[]
function M.names(root)
  local answer = session.answer_at_once(root, "runtimes")
  return vim.tbl_map(function(profile)
    return profile.name
  end, answer and answer.profiles or {})
end

local function open()
  local root = workspace.root(at_cursor.buffer())
  list_window.open({
    name = "profiles",
    root = root,
    read = list_window.by_request(session.of(root), "runtimes", {}, function(result)
      local rows = {}
      for _, profile in ipairs(result.profiles) do
        rows[#rows + 1] = { text = ("%s  %s"):format(profile.name, profile.description), value = profile }
        rows[#rows + 1] = { text = "    " .. M.words(profile), group = "Comment" }
      end
      return rows
    end),
    keys = {
      ["<CR>"] = {
        does = "its modules",
        act = function(profile)
          local words = { profile.name .. ": " .. profile.description, M.words(profile), "" }
          vim.list_extend(words, profile.modules or {})
          list_window.show_text({ name = "profile/" .. profile.name, root = root }, table.concat(words, "\n"))
        end,
      },
      P = config_files.profiles_key(),
    },
  })
end

---@type cellgate.Command
M.command = {
  does = "Lists the profiles that a session may have, with what each gives: modules, hosts, limits, whether it asks before"
    .. " code starts a program, and whether code with an error runs. <CR> shows the modules, P opens your"
    .. " own profiles. `:Cellgate session profile=NAME` chooses one.",
  act = open,
}

return M
