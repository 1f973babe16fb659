-- Specs of `config`, and that the help and docs/neovim.md are made from the plugin's tables.

it("config: what is not there, or of the wrong type, is an error", function()
  local config = require("cellgate.config")
  equal(pcall(config.set, { progam = "x" }), false)
  equal(pcall(config.set, { output_lines = "many" }), false)
  config.set({ output_lines = 3 })
  equal(config.values.output_lines, 3)
  config.set({})
  equal(config.values.output_lines, 20)
end)

it("config: a kernel or a tool server of a wrong type is named", function()
  local config = require("cellgate.config")
  for problem, given in pairs({
    ["kernels.python has to be a string or a table"] = { kernels = { python = 3 } },
    ["kernels.1 has to be"] = { kernels = { "python3" } },
    ["kernels.r.connectionFile has to be a string, and is a boolean"] = { kernels = { r = { connectionFile = true } } },
    ["kernels.r.server has to be a table, and is a string"] = { kernels = { r = { server = "https://example.org" } } },
    ["kernels.r.server.url has to be a string"] = { kernels = { r = { server = { url = 1 } } } },
    ["mcp_servers.1 has to be a table"] = { mcp_servers = { { command = "npx" } } },
    ["mcp_servers.fs has to be a table"] = { mcp_servers = { fs = "npx" } },
    ["mcp_servers.fs.args has to be a table"] = { mcp_servers = { fs = { command = "npx", args = "-y" } } },
  }) do
    local good, said = pcall(config.set, given)
    equal(good, false)
    equal(said:find("cellgate: " .. problem, 1, true) and problem or said, problem)
  end
  config.set({ kernels = { python = "python3", r = { server = { url = "https://example.org" } } } })
  config.set({ mcp_servers = { fs = { command = "npx", args = { "-y" } }, web = { url = "https://example.org" } } })
  config.set({})
end)

it("help: is what the tables of settings, commands, maps and events say", function()
  local help = io.open(vim.api.nvim_get_runtime_file("doc/cellgate.txt", false)[1]):read("a")
  equal(help, require("help").text())
end)

it("docs/neovim.md: its settings are those that there are", function()
  local plugin = vim.fn.fnamemodify(vim.api.nvim_get_runtime_file("doc/cellgate.txt", false)[1], ":h:h")
  local page = io.open(plugin .. "/../../docs/neovim.md"):read("a")
  assert(page:find(require("help").settings_table(), 1, true), "nvim -l tests/help.lua writes them")
end)

it("help: its tags are there once each", function()
  local folder = vim.fn.tempname()
  vim.fn.mkdir(folder)
  vim.uv.fs_copyfile(vim.api.nvim_get_runtime_file("doc/cellgate.txt", false)[1], folder .. "/cellgate.txt")
  vim.cmd.helptags(folder)
  local tags = vim.fn.readfile(folder .. "/tags")
  assert(vim.tbl_contains(
    vim.tbl_map(function(line)
      return line:match("^%S+")
    end, tags),
    ":Cellgate-approvals"
  ))
  for reference in require("help").text():gmatch("|(cellgate[%w-]*)|") do
    assert(
      vim.iter(tags):any(function(line)
        return vim.startswith(line, reference .. "\t")
      end),
      reference
    )
  end
end)
