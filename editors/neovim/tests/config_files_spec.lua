-- Specs of `config_files` and `profiles`: what is listed, and what the keys open.
local start_fake = require("with_fake")

local folder

-- The list in a window; `answer` is what the program prints.
local function opened(answer)
  vim.cmd("silent! only!")
  folder = vim.fn.tempname() .. "/cellgate"
  start_fake()
  require("cellgate.program").find = function()
    return "/bin/cellgate"
  end
  local asked = {}
  require("cellgate.config_files").run = function(command, done)
    asked[#asked + 1] = table.concat(command, " ", 2)
    local shown = answer(folder)
    done({ code = shown.files[1].wrong and 1 or 0, stdout = vim.json.encode(shown), stderr = "" })
  end
  vim.b.cellgate_root = "/tmp"
  require("cellgate.commands").run({ fargs = { "config" }, range = 0 })
  return asked
end

local function files(below, wrong)
  return {
    { path = below .. "/config.toml", what = "options of the command line", exists = wrong ~= nil, wrong = wrong },
    { path = below .. "/profiles.json", what = "profiles of sessions", exists = false },
  }
end

local function list()
  return table.concat(vim.api.nvim_buf_get_lines(0, 1, -1, false), "\n")
end

local function press(key, words)
  vim.api.nvim_win_set_cursor(0, { 1, 0 })
  assert(vim.fn.search("\\V" .. words) > 0, words)
  vim.api.nvim_feedkeys(vim.keycode(key), "mx", false)
end

it("config: files are listed with what is set, and one that is not there is made by a write", function()
  local asked = opened(function(below)
    return {
      files = files(below),
      values = { { name = "run.sandbox", values = { "gvisor" }, from = below .. "/config.toml:2" } },
    }
  end)
  equal(asked, { "config show --json" })
  equal(
    list(),
    table.concat({
      "Files",
      "  " .. folder .. "/config.toml: options of the command line (not there yet)",
      "  " .. folder .. "/profiles.json: profiles of sessions (not there yet)",
      "Set by config.toml and the environment",
      "  run.sandbox = gvisor  (" .. folder .. "/config.toml:2)",
    }, "\n")
  )
  press("<CR>", "profiles.json")
  equal(vim.api.nvim_buf_get_name(0), folder .. "/profiles.json")
  equal(vim.uv.fs_stat(folder), nil)
  vim.cmd("silent write")
  equal(vim.json.decode(table.concat(vim.fn.readfile(folder .. "/profiles.json"))), { profiles = vim.empty_dict() })
end)

it("config: what is wrong in a file is listed with it", function()
  opened(function(below)
    return { files = files(below, "line 1: expected ']'"), values = {} }
  end)
  assert(list():find("config.toml: options of the command line\n    line 1: expected ']'\n", 1, true), list())
end)

it("profiles: each says what it gives", function()
  local profiles = require("cellgate.profiles")
  local lab = {
    name = "lab",
    description = "ours",
    modules = { "astropy", "json" },
    notInstalled = { "astropy" },
    domains = { "archive.example.org" },
    limits = { memoryBytes = 2 ^ 33 },
    askBeforePrograms = true,
    validation = "strict",
  }
  equal(
    profiles.words_of("lab", { lab }),
    "lab: imports 2 modules, 1 of them not installed; connects unasked to archive.example.org; memory 8 GiB; "
      .. "asks before code starts a program; code with an error is refused"
  )
  equal(
    profiles.words({ name = "any", description = "", domains = {}, validation = "off" }),
    "imports any module; code is not checked"
  )
  equal(profiles.words_of("gone", { lab }), "gone: which is not there any more")
  equal(profiles.words_of(nil, { lab }), "none: any module may be imported, code is not checked")
end)
