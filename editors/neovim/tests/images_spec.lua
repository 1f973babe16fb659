-- Specs of `images` and `image_plugins`: who draws a picture of an output.
local fixtures = require("fixtures")
local start = require("with_fake")

-- A cell whose output is a word and a picture; what is shown below it.
local function with_picture(bytes)
  local fake = start()
  local here = fake.connect("/tmp")
  local buffer = fixtures.buffer({ "# %%", "show()" })
  vim.api.nvim_set_current_buf(buffer)
  local execution = here:execute({ code = "show()\n", cell = { uri = "untitled:1", line = 1 } })
  require("cellgate.places").put(execution, buffer, 0, 1, 1)
  for seq, output in ipairs({
    { output_type = "stream", name = "stdout", text = "before\n" },
    { output_type = "display_data", data = { ["image/png"] = vim.base64.encode(bytes) }, metadata = {} },
  }) do
    fake:notify("execute/output", { executionId = execution.id, seq = seq - 1, count = 1, output = output })
  end
  local function rows()
    local namespace = vim.api.nvim_get_namespaces().cellgate
    for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(buffer, namespace, 0, -1, { details = true })) do
      if mark[4].virt_lines and #mark[4].virt_lines > 1 then
        return vim.tbl_map(function(row)
          return row[1][1]
        end, mark[4].virt_lines)
      end
    end
  end
  wait(rows, "a word and a picture")
  return buffer, rows()
end

local png = "\137PNG\r\n\26\n" .. ("\0"):rep(16)

local function stand_in_for_image_nvim(calls)
  return {
    from_file = function(_, options)
      table.insert(calls, options)
      return {
        image_width = 300,
        image_height = 80,
        render = function()
          table.insert(calls, "render")
        end,
        clear = function()
          table.insert(calls, "clear")
        end,
      }
    end,
  }
end

it("images: image.nvim draws into rows that are left free for it", function()
  local calls = {}
  package.loaded.image = stand_in_for_image_nvim(calls)
  local buffer, rows = with_picture(png)
  equal(rows, { "before", "", "", "", "" })
  local options = { inline = true, x = 0, y = 1, width = 30, height = 4, render_offset_top = 1 }
  options.buffer, options.window = buffer, vim.fn.bufwinid(buffer)
  equal(calls, { options, "render" })
  require("cellgate.places").clear(buffer)
  equal(calls[3], "clear")
  package.loaded.image = nil
end)

it("images: what only calls itself a picture is given to no plugin", function()
  local calls = {}
  package.loaded.image = stand_in_for_image_nvim(calls)
  local _, rows = with_picture("push graphic-context")
  assert(vim.startswith(rows[2], "picture: "), vim.inspect(rows))
  equal(calls, {})
  package.loaded.image = nil
end)

it("images: where image.nvim was not set up, there is the path", function()
  package.loaded.image = { from_file = error }
  local _, rows = with_picture(png)
  assert(vim.startswith(rows[2], "picture: "), vim.inspect(rows))
  package.loaded.image = nil
end)

local function stand_in_for_snacks(calls, terminal)
  return {
    image = {
      supports = function()
        return terminal.supported
      end,
      terminal = {
        env = function()
          return terminal
        end,
      },
      placement = {
        new = function(buffer, path, options)
          table.insert(calls, { buffer, vim.fn.fnamemodify(path, ":e"), options.pos, options.inline })
          return {
            close = function()
              table.insert(calls, "close")
            end,
          }
        end,
      },
    },
  }
end

it("images: snacks.nvim draws below the cell", function()
  local calls = {}
  package.loaded.snacks = stand_in_for_snacks(calls, { supported = true, placeholders = true })
  local buffer, rows = with_picture(png)
  assert(vim.startswith(rows[2], "picture: "), vim.inspect(rows))
  equal(calls, { { buffer, "png", { 2, 0 }, true } })
  require("cellgate.places").clear(buffer)
  equal(calls[2], "close")
  package.loaded.snacks = nil
end)

for what, terminal in pairs({
  ["no pictures"] = { supported = false, placeholders = false },
  ["no pictures among text"] = { supported = true, placeholders = false },
}) do
  it("images: where snacks.nvim knows of " .. what .. ", there is the path", function()
    local calls = {}
    package.loaded.snacks = stand_in_for_snacks(calls, terminal)
    local _, rows = with_picture(png)
    assert(vim.startswith(rows[2], "picture: "), vim.inspect(rows))
    equal(calls, {})
    package.loaded.snacks = nil
  end)
end
