-- `secrets` lists the secrets that tool servers get, adds and deletes them. A value is typed unseen, sent, and kept
-- nowhere here.
local at_cursor = require("cellgate.at_cursor")
local list_window = require("cellgate.list_window")
local session = require("cellgate.session")
local workspace = require("cellgate.workspace")

local M = {}

-- Where a new one can hold; `id` of the session whose code was at the cursor.
local function scopes(here, id)
  local choices = {
    { does = "for all workspaces", scope = "user" },
    { does = "for this workspace", scope = "workspace" },
  }
  local status = here.kernels[id]
  if status and status ~= "dead" then
    choices[#choices + 1] = { does = "for session " .. id .. ", in memory, until it ends", scope = "session", id = id }
  end
  return choices
end

---@param secret SecretInfo
---@return string
local function words_of(secret)
  local owner = secret.sessionId and "session " .. secret.sessionId or secret.scope
  local words = { secret.name, owner, secret.from and secret.source .. ": " .. secret.from or secret.source }
  if #secret.usedBy > 0 then
    words[#words + 1] = "used by " .. table.concat(secret.usedBy, ", ")
  end
  if secret.lastUsedAt then
    words[#words + 1] = "last " .. list_window.clock_time(secret.lastUsedAt)
  end
  return table.concat(words, "  ")
end

local function add(here, id, refresh)
  local function typed(name, chosen)
    local good, value = pcall(vim.fn.inputsecret, { prompt = name .. ": ", cancelreturn = vim.NIL })
    if good and type(value) == "string" and value ~= "" then
      local params = { name = name, scope = chosen.scope, sessionId = chosen.id, value = value }
      here:request("secret/set", params, list_window.or_tell(refresh))
    end
  end
  vim.ui.input({ prompt = "Name of the secret: " }, function(name)
    if not name or name == "" then
      return
    end
    vim.ui.select(scopes(here, id), {
      prompt = "Whose is " .. name .. "?",
      format_item = function(each)
        return each.does
      end,
    }, function(chosen)
      if chosen then
        typed(name, chosen)
      end
    end)
  end)
end

local function list()
  local root = workspace.root(vim.api.nvim_get_current_buf())
  local here, id = session.of(root), at_cursor.kernel()
  list_window.open({
    name = "secrets",
    root = root,
    read = list_window.by_request(here, "secret/list", vim.empty_dict(), function(result)
      return vim.tbl_map(function(secret)
        return {
          text = words_of(secret),
          value = secret,
          id = table.concat({ secret.scope, secret.sessionId or "", secret.name }, " "),
        }
      end, result.secrets)
    end),
    keys = {
      a = {
        does = "add",
        anywhere = true,
        act = function(_, refresh)
          add(here, id, refresh)
        end,
      },
      d = {
        does = "delete",
        act = function(secret, refresh)
          local params = { name = secret.name, scope = secret.scope, sessionId = secret.sessionId }
          here:request("secret/delete", params, list_window.or_tell(refresh))
        end,
      },
    },
  })
end

---@type cellgate.Command
M.command = {
  does = "Lists the secrets that tool servers get: where each comes from and who uses it, never a value. Keys add one,"
    .. " whose value is typed unseen, and delete one.",
  act = list,
}

return M
