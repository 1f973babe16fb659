-- `keys` is the <Plug> maps, and the suggested keys, which are set only when the user's settings ask for them.
local M = {}

---@class cellgate.Plug
---@field name string
---@field modes string[]
---@field does string
---@field key? string suggested
---@field map string|function
---@field expr? boolean

local function command(words)
  return ("<Cmd>Cellgate %s<CR>"):format(words)
end

---@type cellgate.Plug[]
M.plugs = {
  { name = "run", modes = { "n" }, key = "<localleader>r", does = "run the cell", map = command("run") },
  {
    name = "advance",
    modes = { "n" },
    key = "<localleader><localleader>",
    does = "run the cell, go to the next",
    map = command("advance"),
  },
  { name = "above", modes = { "n" }, key = "<localleader>k", does = "run all above", map = command("above") },
  { name = "below", modes = { "n" }, key = "<localleader>j", does = "run this and all below", map = command("below") },
  { name = "all", modes = { "n" }, key = "<localleader>a", does = "run all cells", map = command("all") },
  { name = "line", modes = { "n" }, key = "<localleader>l", does = "run the line", map = command("line") },
  {
    name = "selection",
    modes = { "x" },
    key = "<localleader>r",
    does = "run the selected lines",
    map = function()
      require("cellgate.run").selection()
    end,
  },
  {
    name = "operator",
    modes = { "n" },
    key = "<localleader>e",
    does = "run what a motion goes over",
    expr = true,
    map = function()
      return require("cellgate.run").start_operator()
    end,
  },
  { name = "output", modes = { "n" }, key = "<localleader>o", does = "open all output", map = command("output") },
  {
    name = "interrupt",
    modes = { "n" },
    key = "<localleader>i",
    does = "interrupt the kernel",
    map = command("interrupt"),
  },
  {
    name = "approvals",
    modes = { "n", "i", "t" },
    key = "<localleader>g",
    does = "read and answer what waits",
    map = command("approvals"),
  },
  {
    name = "inspect",
    modes = { "n" },
    key = "<localleader>h",
    does = "what the kernel knows of a name",
    map = command("inspect"),
  },
  {
    name = "next",
    modes = { "n", "x", "o" },
    key = "]c",
    does = "to the next cell",
    map = "<Cmd>lua require('cellgate.cells').jump()<CR>",
  },
  {
    name = "previous",
    modes = { "n", "x", "o" },
    key = "[c",
    does = "to the cell before",
    map = "<Cmd>lua require('cellgate.cells').jump(true)<CR>",
  },
  {
    name = "inner",
    modes = { "x", "o" },
    key = "ic",
    does = "the code of a cell",
    map = ":<C-u>lua require('cellgate.cells').select(false)<CR>",
  },
  {
    name = "around",
    modes = { "x", "o" },
    key = "ac",
    does = "a cell with its marker",
    map = ":<C-u>lua require('cellgate.cells').select(true)<CR>",
  },
}

--- The name of a map, to be mapped to.
---@param plug cellgate.Plug
function M.plug_name(plug)
  return ("<Plug>(cellgate-%s)"):format(plug.name)
end

function M.define()
  for _, plug in ipairs(M.plugs) do
    vim.keymap.set(
      plug.modes,
      M.plug_name(plug),
      plug.map,
      { expr = plug.expr, silent = true, desc = "cellgate: " .. plug.does }
    )
  end
end

--- Sets the suggested keys in a buffer that has cells, where the setting wants them.
---@param buffer integer
function M.set(buffer)
  if not require("cellgate.config").values.keys then
    return
  end
  for _, plug in ipairs(M.plugs) do
    -- In insert and terminal mode the suggested key would be typed text.
    local modes = vim.tbl_filter(function(mode)
      return mode ~= "i" and mode ~= "t"
    end, plug.modes)
    vim.keymap.set(
      modes,
      plug.key,
      M.plug_name(plug),
      { buffer = buffer, remap = true, desc = "cellgate: " .. plug.does }
    )
  end
end

--- For buffers that are open already.
function M.apply()
  for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_is_loaded(buffer) and vim.bo[buffer].buftype == "" then
      require("cellgate.cells").when_any(buffer, function()
        M.set(buffer)
      end)
    end
  end
end

return M
