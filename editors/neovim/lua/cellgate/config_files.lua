-- `config_files` is `:Cellgate config`: cellgate's own configuration files, and what they and the environment set, as
-- `cellgate config show` lists them.
local at_cursor = require("cellgate.at_cursor")
local list_window = require("cellgate.list_window")
local notify = require("cellgate.notify")
local scratch = require("cellgate.scratch")
local workspace = require("cellgate.workspace")

local M = {}

---@class cellgate.ConfigFile
---@field path string
---@field what string
---@field exists boolean
---@field wrong? string why it is not read

---@class cellgate.ConfigValue
---@field name string
---@field values string[]
---@field from string "environment", or a file's path with its line
---@field wrong? string why it is not used

-- What a new file begins with. The sidecar writes others.
local skeletons = {
  ["config.toml"] = {
    "# Options of cellgate's subcommands, without their dashes: `cellgate help run` lists those of one.",
    "[run]",
  },
  ["profiles.json"] = { "{", '  "profiles": {}', "}" },
  ["agents.json"] = { "{", '  "agents": {}', "}" },
  ["record.json"] = { "{}" },
}

--- How the program is asked; specs put a fake here.
---@type fun(command: string[], done: fun(result: { code: integer, stdout: string?, stderr: string? }))
function M.run(command, done)
  vim.system(command, { text = true, timeout = 20000 }, vim.schedule_wrap(done))
end

---@param stdout string?
---@return { files: cellgate.ConfigFile[], values: cellgate.ConfigValue[] }?
local function decoded(stdout)
  local good, shown = pcall(vim.json.decode, stdout or "")
  return good and type(shown) == "table" and shown.files and shown.values and shown or nil
end

local function heading(words)
  return { text = words, group = "Title" }
end

---@param shown { files: cellgate.ConfigFile[], values: cellgate.ConfigValue[] }
---@return cellgate.ListRow[]
function M.rows(shown)
  local rows = { heading("Files") }
  local function add(row, wrong)
    rows[#rows + 1] = row
    rows[#rows + 1] = wrong and { text = "    " .. wrong, group = "DiagnosticError" } or nil
  end
  for _, file in ipairs(shown.files) do
    local missing = file.exists and "" or " (not there yet)"
    add({
      text = ("  %s: %s%s"):format(file.path, file.what, missing),
      id = file.path,
      value = { path = file.path },
    }, file.wrong)
  end
  rows[#rows + 1] = shown.values[1] and heading("Set by config.toml and the environment") or nil
  for _, value in ipairs(shown.values) do
    local path, line = value.from:match("^(/.*):(%d+)$")
    add({
      text = ("  %s = %s  (%s)"):format(value.name, table.concat(value.values, ", "), value.from),
      value = path and { path = path, line = tonumber(line) } or nil,
    }, value.wrong)
  end
  return rows
end

-- The program fails where a file is wrong, and lists all of them.
---@param done fun(problem: string?, rows: cellgate.ListRow[]?)
local function read(done)
  local program, none = require("cellgate.program").find()
  if not program then
    return done(none)
  end
  M.run({ program, "config", "show", "--json" }, function(result)
    local shown = decoded(result.stdout)
    if shown then
      return done(nil, M.rows(shown))
    end
    local words = vim.trim(result.stderr or ""):gsub("%s*\n%s*", " ")
    done(words ~= "" and words or "this cellgate does not list its files")
  end)
end

--- Opens one. Where it is not there, it is made by a `:w`.
---@param path string
---@param line? integer from 1
function M.open(path, line)
  local buffer = vim.fn.bufadd(path)
  vim.bo[buffer].buflisted = true
  scratch.enter_file_window()
  local fine, trouble = pcall(vim.cmd.buffer, buffer)
  if not fine then
    return notify.show((tostring(trouble):gsub("^.-(E%d+:)", "%1")), vim.log.levels.WARN)
  end
  local skeleton = skeletons[vim.fs.basename(path)]
  if skeleton and not vim.uv.fs_stat(path) and vim.api.nvim_buf_line_count(buffer) == 1 and vim.fn.getline(1) == "" then
    vim.api.nvim_buf_set_lines(buffer, 0, -1, false, skeleton)
    vim.api.nvim_create_autocmd("BufWritePre", {
      buffer = buffer,
      once = true,
      callback = function()
        vim.fn.mkdir(vim.fs.dirname(path), "p", "0700")
      end,
    })
  end
  pcall(vim.api.nvim_win_set_cursor, 0, { line or 1, 0 })
end

--- The keys of a list that open the user's profiles.
---@return cellgate.ListKey
function M.profiles_key()
  return {
    does = "open profiles.json",
    anywhere = true,
    act = function()
      read(function(problem, rows)
        for _, row in ipairs(rows or {}) do
          if row.value and vim.fs.basename(row.value.path) == "profiles.json" then
            return M.open(row.value.path)
          end
        end
        notify.show(problem or "cellgate names no profiles.json", vim.log.levels.WARN)
      end)
    end,
  }
end

---@type cellgate.Command
M.command = {
  does = "Lists cellgate's own configuration files, whether they are there, and what config.toml and the environment set. <CR>"
    .. " opens the file, at the line of a value; one that is not there is made by `:w`.",
  act = function()
    list_window.open({
      name = "config",
      root = workspace.root(at_cursor.buffer()),
      read = read,
      keys = {
        ["<CR>"] = {
          does = "open it",
          act = function(file)
            if not file.line and not skeletons[vim.fs.basename(file.path)] and not vim.uv.fs_stat(file.path) then
              return notify.show("no rule is kept for all workspaces yet; :Cellgate rule adds one")
            end
            M.open(file.path, file.line)
          end,
        },
      },
    })
  end,
}

return M
