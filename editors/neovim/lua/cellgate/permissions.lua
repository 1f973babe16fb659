-- `permissions` is one list of what the code of a session may do now: by its sandbox, the rules that hold for it, the
-- tool servers, the secrets and its limits. A key begins the command that changes a line, or shows the setting that
-- does.
local at_cursor = require("cellgate.at_cursor")
local limits = require("cellgate.limits")
local list_window = require("cellgate.list_window")
local policy_words = require("cellgate.policy_words")
local profiles = require("cellgate.profiles")
local session = require("cellgate.session")
local workspace = require("cellgate.workspace")

local M = {}

---@class cellgate.Permission
---@field command? string that changes it, as it is typed behind `:Cellgate `
---@field setting? string that decides it for new sessions
---@field rule? Rule that is shown whole, and may be revoked unless it is built in

local function heading(words)
  return { text = words, group = "Title" }
end

---@param words string
---@param command? string
local function row(words, command)
  return { text = "  " .. words, value = command and { command = command } }
end

---@param words string
---@param setting string
local function by_setting(words, setting)
  return { text = "  " .. words, value = { setting = setting } }
end

---@param info SessionInfo
local function sandbox_rows(info)
  local held = info.sandbox == "none"
      and "none: its code can do all that " .. (info.kernel.server and "the server lets it do" or "you can")
    or ("%s: %s"):format(info.sandbox, table.concat(info.layers, ", "))
  local setting = info.sandbox == "none" and "kernels" or "sandbox_launcher"
  local rows = { heading("Sandbox"), by_setting(held, setting) }
  if info.image then
    rows[#rows + 1] =
      by_setting(("the image %s, in place of this machine's system"):format(info.image.name), "sandbox_image")
  end
  for _, notice in ipairs(info.sandboxNotices or {}) do
    rows[#rows + 1] = by_setting(notice, setting)
  end
  return rows
end

---@param info SessionInfo
---@param root string
local function file_rows(info, root)
  local rows = { heading("Files") }
  if info.sandbox == "none" then
    rows[2] = by_setting("all that it can reach, without asking you: there is no sandbox", "kernels")
    return rows
  end
  local function add(words)
    rows[#rows + 1] = by_setting(words, "sandbox_config")
  end
  local more = info.sandboxAdditions or {}
  add(("%s: read and written, without its protected files and .env"):format(root))
  add("your home: not seen")
  for _, path in ipairs(more.allowRead or {}) do
    add(path .. ": read")
  end
  for _, path in ipairs(more.allowWrite or {}) do
    add(path .. ": read and written")
  end
  if more.gpu then
    add("the graphics cards: used")
  end
  if info.sandboxConfig then
    add(info.sandboxConfig .. ": shows more, or hides")
  end
  return rows
end

-- What rules of these kinds hold for the session. One about a tool server's connections is not about its code.
local function rule_rows(rules, id, kinds)
  local rows = {}
  for _, rule in ipairs(rules) do
    local of_another = rule.sessionId and rule.sessionId ~= id or rule.kind == "network" and rule.server
    if not of_another and vim.list_contains(kinds, rule.kind or "any") then
      rows[#rows + 1] = {
        text = "  " .. policy_words.rule(rule),
        id = rule.id,
        group = rule.effect == "deny" and "DiagnosticError" or nil,
        value = { rule = rule },
      }
    end
  end
  return rows
end

local function server_rows(servers)
  return vim.tbl_map(function(server)
    local place = server.sandbox == "none" and ", outside the sandbox" or ""
    return row(("%s: %s%s"):format(server.name, server.state, place), "servers")
  end, servers)
end

local function secret_rows(secrets, id)
  local rows = { heading("Secrets, which code never sees") }
  for _, secret in ipairs(secrets) do
    if (secret.sessionId or id) == id then
      rows[#rows + 1] = row(("%s: %s"):format(secret.name, secret.source), "secrets")
    end
  end
  rows[2] = rows[2] or row("none", "secrets")
  return rows
end

---@param info SessionInfo
---@param root string
---@param facts { rules: Rule[], servers: ToolServerInfo[], secrets: SecretInfo[], profiles: Profile[] }
---@return cellgate.ListRow[]
function M.rows(info, root, facts)
  local id = info.sessionId
  local rows = sandbox_rows(info)
  vim.list_extend(rows, { heading("Profile"), row(profiles.words_of(info.profile, facts.profiles), "profiles") })
  vim.list_extend(rows, file_rows(info, root))
  local function add(more)
    vim.list_extend(rows, more)
  end
  local function add_decided(what, kinds, command)
    local ruled = rule_rows(facts.rules, id, kinds)
    add(ruled)
    add({ row(("any %s%s: you are asked"):format(#ruled == 0 and "" or "other ", what), command) })
  end
  add({ heading("Network") })
  if info.sandbox == "none" then
    add({ by_setting("any host, without asking you: there is no sandbox", "kernels") })
  elseif info.sandbox == "landlock" then
    add({ by_setting("no host: this sandbox has no network", "sandbox_launcher") })
  else
    add_decided("host", { "network", "request" }, "rule allow network ")
  end
  add({ heading("Tools") })
  add(server_rows(facts.servers))
  add_decided("call", { "tool", "host", "server", "any" }, "rule allow ")
  add({ heading("Packages and output") })
  add_decided("package", { "install", "output" }, "rule deny install")
  add(secret_rows(facts.secrets, id))
  add({ heading("Limits"), row(limits.limits_words(info.limits), "limits ") })
  return rows
end

local function open()
  local root = workspace.root(at_cursor.buffer())
  local here, id = session.of(root), at_cursor.kernel()
  local methods = { "session/list", "policy/list", "toolServers/list", "secret/list", "runtimes" }
  list_window.open({
    name = "permissions",
    root = root,
    session = id,
    events = { "CellgateKernel", "CellgateApproval" },
    read = list_window.by_requests(here, methods, function(sessions, policy, servers, secrets, runtimes)
      local info = vim.iter(sessions.sessions):find(function(each)
        return each.sessionId == id
      end)
      if not info then
        return { { text = "no kernel runs here yet: it starts with the first cell" } }
      end
      return M.rows(info, root, {
        rules = policy.rules,
        servers = servers.servers,
        secrets = secrets.secrets,
        profiles = runtimes.profiles,
      })
    end),
    keys = {
      ["<CR>"] = {
        does = "change it, or show a rule",
        act = function(permission)
          if permission.setting then
            vim.cmd.help("cellgate-config-" .. permission.setting)
          elseif permission.command then
            vim.api.nvim_feedkeys(":Cellgate " .. permission.command, "n", false)
          else
            list_window.show_text(
              { name = "rule", root = root, session = id },
              policy_words.rule_whole(permission.rule)
            )
          end
        end,
      },
      X = {
        does = "revoke a rule",
        act = function(permission, refresh)
          if permission.rule and permission.rule.source ~= "default" then
            here:request("policy/remove", { ruleId = permission.rule.id }, list_window.or_tell(refresh))
          end
        end,
      },
    },
  })
end

---@type cellgate.Command
M.command = {
  does = "Lists what the code of the kernel may do now: its sandbox, files, hosts, tools, secrets and limits. <CR> begins the"
    .. " command that changes a line, or shows the setting that does for new sessions, or all of a rule. X revokes a rule.",
  act = open,
}

return M
