-- Specs of `cells`: markers, fences, motions and text objects.
local fixtures = require("fixtures")

it("cells: markers of several languages, prose left out, the first without a marker", function()
  local cells = require("cellgate.cells")
  local buffer = fixtures.buffer({ "x = 1", "", "# %% title", "y", "", "#%% [markdown]", "# words", "# %%", "z", "" })
  equal(
    vim.tbl_map(function(cell)
      return { cell.first, cell.code_first, cell.code_last, cell.last }
    end, cells.runnable(buffer)),
    { { 0, 0, 0, 1 }, { 2, 3, 3, 4 }, { 7, 8, 8, 9 } }
  )
  equal(#cells.all(buffer), 4)
  local has = {}
  for _, lines in ipairs({ { "x", "# %%" }, { "x = '# %%'", "y" } }) do
    cells.when_any(fixtures.buffer(lines), function()
      has[#has + 1] = lines[1]
    end)
  end
  equal(has, { "x" })
  equal(#cells.all(fixtures.buffer({ "// %%", "1", "// %%", "2" }, "javascript")), 2)
  equal(#cells.all(fixtures.buffer({ "# In[3]:", "1", "# In[ ]:", "2" })), 2)
end)

it("cells: a marker may name the language of its cell", function()
  local cells = require("cellgate.cells")
  local workspace = require("cellgate.workspace")
  local buffer =
    fixtures.buffer({ "# %%", "a", "# %% count [bash]", "b", "# %% [1] [TS]", "c", "# %% [todo]", "d" }, "python")
  equal(
    vim.tbl_map(function(cell)
      return workspace.language(buffer, cell)
    end, cells.all(buffer)),
    { "python", "bash", "typescript", "python" }
  )
  equal((workspace.session("/tmp", "bash")), "bash")
end)

it("cells: the kernel of a language is a name, a path, or one elsewhere, which gets no sandbox", function()
  local config = require("cellgate.config")
  local workspace = require("cellgate.workspace")
  local before = config.values
  local function kernel(chosen)
    config.values = vim.tbl_extend("force", before, { kernels = { python = chosen }, sandbox_config = "s.json" })
    local _, params = workspace.session("/tmp", "python")
    return { params.kernel, params.sandbox }
  end
  local by_name, by_path = kernel("python3"), kernel("/usr/bin/python3")
  local existing = kernel({ connectionFile = "" })
  local on_server = kernel({ server = { url = "https://hub.example.org" } })
  config.values = before
  equal(by_name, { { name = "python3" }, { configFile = "s.json" } })
  equal(by_path, { { interpreter = "/usr/bin/python3" }, { configFile = "s.json" } })
  equal(existing, { { connectionFile = "" } })
  equal(on_server, { { server = { url = "https://hub.example.org" } } })
end)

it("cells: an image is the sandbox of Python alone, and its Python is the kernel", function()
  local config = require("cellgate.config")
  local workspace = require("cellgate.workspace")
  local before = config.values
  local function params(language, chosen)
    config.values = vim.tbl_extend("force", before, { kernels = { python = chosen }, sandbox_image = "analysis" })
    local _, given = workspace.session("/tmp", language)
    return { given.kernel or "none", given.sandbox or "none" }
  end
  local alone, with_kernel = params("python"), params("python", "/usr/bin/python3")
  local on_server = params("python", { server = { url = "https://hub.example.org" } })
  local bash = params("bash")
  config.values = before
  equal(alone, { "none", { image = "analysis" } })
  equal(with_kernel, { "none", { image = "analysis" } })
  equal(on_server, { { server = { url = "https://hub.example.org" } }, "none" })
  equal(bash, { "none", "none" })
end)

it("cells: a buffer that says no language has none, but for cells that name one", function()
  local cells = require("cellgate.cells")
  local workspace = require("cellgate.workspace")
  local buffer = fixtures.buffer({ "# %%", "a", "# %% [bash]", "b" }, "")
  local all = cells.all(buffer)
  equal({ workspace.language(buffer, all[1]), workspace.language(buffer, all[2]) }, { nil, "bash" })
end)

it("cells: fences with a language, and none without", function()
  local cells = require("cellgate.cells")
  local buffer = fixtures.buffer({
    "words",
    "```python",
    "a",
    "",
    "```",
    "```",
    "no",
    "```",
    "~~~ {.R}",
    "b",
    "```",
    "~~~",
    "````py",
    "```",
    "c",
    "````",
  }, "markdown")
  equal(
    vim.tbl_map(function(cell)
      return { cell.language, cell.first, cell.code_first, cell.code_last, cell.last }
    end, cells.all(buffer)),
    { { "python", 1, 2, 2, 4 }, { "r", 8, 9, 10, 11 }, { "py", 12, 13, 14, 15 } }
  )
end)

it("cells: motions and text objects", function()
  local cells = require("cellgate.cells")
  require("cellgate.keys").define()
  vim.api.nvim_set_current_buf(fixtures.buffer({ "# %%", "a", "b", "", "# %%", "c", "# %%", "d" }))
  local function row()
    return vim.api.nvim_win_get_cursor(0)[1]
  end
  cells.jump()
  equal(row(), 6)
  cells.jump()
  equal(row(), 8)
  cells.jump()
  equal(row(), 8)
  cells.jump(true)
  equal(row(), 6)
  vim.api.nvim_win_set_cursor(0, { 3, 0 })
  cells.jump(true)
  equal(row(), 2)
  vim.keymap.set({ "x", "o" }, "ic", "<Plug>(cellgate-inner)")
  vim.keymap.set({ "x", "o" }, "ac", "<Plug>(cellgate-around)")
  vim.api.nvim_win_set_cursor(0, { 3, 0 })
  vim.cmd.normal("yic")
  equal(vim.fn.getreg('"'), "a\nb\n")
  vim.cmd.normal("dac")
  equal(vim.api.nvim_buf_get_lines(0, 0, -1, false), { "# %%", "c", "# %%", "d" })
end)
