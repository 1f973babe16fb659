-- `config` is the settings: a table of their names, types, defaults and descriptions, from which the help
-- (`:h cellgate-config`) and the table in docs/neovim.md are made. A setting that is not in the table, or of the wrong
-- type, is an error.
local M = {}

---@class cellgate.Setting
---@field name string
---@field type string|string[] what type() says; several are alternatives
---@field default any
---@field doc string

---@type cellgate.Setting[]
M.settings = {
  {
    name = "program",
    type = { "string", "nil" },
    doc = "The program cellgate. Without it: `cellgate` on PATH, then `build/cellgate` of the repository that contains the plugin.",
  },
  {
    name = "arguments",
    type = "table",
    default = {},
    doc = 'More arguments for `cellgate connect`, such as `{ "--log-level", "debug" }`.',
  },
  {
    name = "root",
    type = { "function", "nil" },
    doc = "A function that gets a buffer's number and returns the workspace folder. Without it: the nearest folder above the"
      .. " file that holds `.git`, `.mcp.json`, `mcptools` or `pyproject.toml`, else the file's folder.",
  },
  {
    name = "kernels",
    type = "table",
    default = {},
    doc = 'Languages to the kernel to use, as `:Cellgate kernels` names it: `{ python = "python3" }`. One that is not named'
      .. " gets the first kernel that speaks it. A kernel that already runs, by its connection file or a name in Jupyter's runtime"
      .. ' directory: `{ python = { connectionFile = "kernel-4711.json" } }` (empty: the newest). One on a Jupyter server:'
      .. ' `{ python = { server = { url = "https://hub.example.org/user/me", name = "python3" } } }`; you are asked for its'
      .. " token, or it is a secret: `token = '${secret:NAME}'`.",
  },
  {
    name = "sandbox_config",
    type = { "string", "nil" },
    doc = "A settings file in the format of srt (`@anthropic-ai/sandbox-runtime`) for the sandbox of new sessions: what their"
      .. " code can read, write and reach in addition to the workspace. From the workspace's folder if relative; `~` is your home.",
  },
  {
    name = "sandbox_launcher",
    type = { "string", "nil" },
    doc = "What the sandbox of new sessions is made by: `bwrap`, also without it, or `gvisor`: the same, and in it gVisor's kernel"
      .. " answers the code's system calls. Slower. Needs `runsc`.",
  },
  {
    name = "sandbox_image",
    type = { "string", "nil" },
    doc = "An image that podman has, for new Python sessions: its Python and its files are those of the sandbox, in place of this"
      .. " machine's. `cellgate image build DIR --tag NAME` makes one. It needs ipykernel.",
  },
  {
    name = "session",
    type = "table",
    default = {},
    doc = "What new sessions are created with: `limits` by the words of `:Cellgate limits`, `timeout` in seconds, `env`, `cwd` and"
      .. ' `profile`, such as `{ limits = { memory = "4G" }, timeout = 60, env = { MPLBACKEND = "agg" } }`. `:Cellgate session` shows'
      .. " and changes that of one session.",
  },
  {
    name = "linger_seconds",
    type = "number",
    default = 600,
    doc = "How long kernels, and what waits for your answer, outlive Neovim. `:Cellgate stop` ends them at once.",
  },
  {
    name = "spare_kernel",
    type = "boolean",
    default = true,
    doc = "Keep a kernel ready for the next session or restart, which then need no time to start. It takes the memory of one more"
      .. " kernel, and ends when the machine's memory is short or nothing uses it for half an hour.",
  },
  {
    name = "mcp_servers",
    type = "table",
    default = {},
    doc = "Tool servers by name, as in `mcpServers` of MCP clients. You name them, so starting them asks nothing more.",
  },
  {
    name = "reattach",
    type = "boolean",
    default = true,
    doc = "When a file with cells is open whose workspace has a running sidecar, or gets one (an agent may start it), connect"
      .. " to it and show its output again. Not after `:Cellgate stop`.",
  },
  {
    name = "keep_changes",
    type = "boolean",
    default = true,
    doc = "Keep which files of the workspace a cell changes, so that `:Cellgate changes` shows them and `:Cellgate undo` undoes"
      .. " that. Those of agents are always kept.",
  },
  {
    name = "check",
    type = { "string", "boolean" },
    default = "write",
    doc = 'When code is checked by itself, while the workspace is connected: `"write"`, when its file is written, or `false`.'
      .. " What is found is shown as diagnostics (|vim.diagnostic|); `:Cellgate check` does it at any time.",
  },
  {
    name = "output_lines",
    type = "number",
    default = 20,
    doc = "How many lines of output are shown below a cell: the last ones. `:Cellgate output` shows all.",
  },
  {
    name = "images",
    type = "string",
    default = "auto",
    doc = "How pictures are shown: `kitty` by the graphics protocol of kitty 0.28 and ghostty, `image.nvim` or"
      .. " `snacks.nvim` by that plugin, `path` by the path of their file, `auto` by the first of these that can.",
  },
  {
    name = "preview",
    type = "boolean",
    default = true,
    doc = "Show what waits for an answer in a small window in the corner, which never takes the cursor.",
  },
  {
    name = "preview_lines",
    type = "number",
    default = 12,
    doc = "Height of that window, at most.",
  },
  {
    name = "keys",
    type = "boolean",
    default = false,
    doc = "Set the suggested keys (|cellgate-keys|) in buffers that have cells.",
  },
  {
    name = "open",
    type = { "function", "nil" },
    doc = "What opens a file of `:Cellgate html`, and the page of a login or of a tool server's question: it gets the path"
      .. " or the URL. Without it: |vim.ui.open()|.",
  },
}

local function defaults()
  local values = {}
  for _, setting in ipairs(M.settings) do
    values[setting.name] = vim.deepcopy(setting.default)
  end
  return values
end

---@type table<string, any>
M.values = defaults()

local function fits(setting, value)
  local types = type(setting.type) == "table" and setting.type or { setting.type }
  return vim.tbl_contains(types, type(value))
end

-- What is wrong with one of these fields, all of which may be missing.
local function misfit(where, given, types)
  for field, wanted in pairs(types) do
    local value = given[field]
    if value ~= nil and type(value) ~= wanted then
      return ("%s.%s has to be a %s, and is a %s"):format(where, field, wanted, type(value))
    end
  end
end

---@type table<string, fun(value: table): string?> what type() does not tell
local checks = {}

function checks.kernels(kernels)
  for language, kernel in pairs(kernels) do
    local where = "kernels." .. tostring(language)
    local kind = type(kernel)
    if type(language) ~= "string" or kind ~= "string" and kind ~= "table" then
      return ("%s has to be a string or a table, by a language's name, and is a %s"):format(where, kind)
    end
    local fields = kind == "table" and kernel or {}
    local problem =
      misfit(where, fields, { name = "string", interpreter = "string", connectionFile = "string", server = "table" })
    problem = problem
      or misfit(where .. ".server", fields.server or {}, { url = "string", name = "string", token = "string" })
    if problem then
      return problem
    end
  end
end

function checks.mcp_servers(servers)
  for name, server in pairs(servers) do
    local where = "mcp_servers." .. tostring(name)
    if type(name) ~= "string" or type(server) ~= "table" then
      return ("%s has to be a table, by the server's name, and is a %s"):format(where, type(server))
    end
    local types =
      { command = "string", args = "table", env = "table", cwd = "string", url = "string", headers = "table" }
    local problem = misfit(where, server, types)
    if problem then
      return problem
    end
  end
end

--- Takes the user's settings; those that are not given have their defaults.
---@param given? table
function M.set(given)
  local values = defaults()
  local known = {}
  for _, setting in ipairs(M.settings) do
    known[setting.name] = setting
  end
  for name, value in pairs(given or {}) do
    local setting = known[name]
    if not setting then
      error(("cellgate: there is no setting %q; :h cellgate-config lists them"):format(name), 0)
    end
    if not fits(setting, value) then
      local wanted = type(setting.type) == "table" and table.concat(setting.type, " or ") or setting.type
      error(("cellgate: %s has to be a %s, and is a %s"):format(name, wanted, type(value)), 0)
    end
    local problem = checks[name] and checks[name](value)
    if problem then
      error("cellgate: " .. problem, 0)
    end
    values[name] = value
  end
  M.values = values
end

return M
