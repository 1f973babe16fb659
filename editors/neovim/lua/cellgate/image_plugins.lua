-- `image_plugins` is the adapter to plugins that draw pictures: image.nvim draws into rows left free among a cell's
-- virtual lines, snacks.nvim adds rows of its own below the cell. Where one of them fails, the picture's path is shown.
local config = require("cellgate.config")
local kitty = require("cellgate.kitty")
local log = require("cellgate.log")

local M = {}

---@class cellgate.Guest a picture that another plugin draws
---@field path string
---@field columns integer
---@field rows integer that are left free for it
---@field above? integer virtual rows between the cell's last line and it
---@field show fun(guest: cellgate.Guest, buffer: integer, window: integer, row: integer): fun() what takes it away

local sizes = {} ---@type table<string, { [1]: integer, [2]: integer }> by path, in pixels

---@type table<string, fun(path: string, width: integer): cellgate.Guest?>
local plugins = {
  ["image.nvim"] = function(path, width)
    local api = require("image")
    if not sizes[path] then
      local image = api.from_file(path)
      sizes[path] = { image.image_width, image.image_height }
    end
    local columns, rows = kitty.fit(sizes[path][1], sizes[path][2], width)
    return {
      path = path,
      columns = columns,
      rows = rows,
      show = function(guest, buffer, window, row)
        local image = api.from_file(path, {
          buffer = buffer,
          window = window,
          inline = true,
          x = 0,
          y = row,
          width = columns,
          height = rows,
          render_offset_top = guest.above,
        })
        image:render()
        return function()
          image:clear()
        end
      end,
    }
  end,
  ["snacks.nvim"] = function(path, width)
    local api = require("snacks").image
    -- Without placeholders it would draw over the window, wherever the cell is.
    return api.supports(path)
        and api.terminal.env().placeholders
        and {
          path = path,
          columns = width,
          rows = 0,
          show = function(_, buffer, _, row)
            local placement = api.placement.new(buffer, path, {
              pos = { row + 1, 0 },
              inline = true,
              max_width = math.min(width, kitty.max_columns),
              max_height = kitty.max_rows,
            })
            return function()
              placement:close()
            end
          end,
        }
      or nil
  end,
}

-- Both plugins ask ImageMagick, which reads what a file holds and ignores its name: code in the kernel could give it a
-- program in a language of its own under the name of a PNG. By how PNG, JPEG and GIF begin:
local beginnings = { "^\137PNG\r\n\26\n", "^\255\216\255", "^GIF8[79]a" }
local plain = {} ---@type table<string, boolean> by path

local function is_plain_picture(path)
  if plain[path] == nil then
    local file = io.open(path, "rb")
    local begin = file and file:read(8) or ""
    if file then
      file:close()
    end
    plain[path] = vim.iter(beginnings):any(function(pattern)
      return begin:find(pattern) ~= nil
    end)
  end
  return plain[path]
end

--- What a plugin makes of a picture, if the settings let one and it is there.
---@param path string
---@param width integer in cells
---@return cellgate.Guest?
function M.open(path, width)
  local wanted = config.values.images
  for _, name in ipairs({ "image.nvim", "snacks.nvim" }) do
    if (wanted == "auto" or wanted == name) and is_plain_picture(path) then
      local good, guest = pcall(plugins[name], path, width)
      if good and guest then
        return guest
      end
    end
  end
end

--- Shows the pictures of a cell where they are to be now, and takes the others away.
---@param shown table<string, fun()> as this returned it before
---@param guests cellgate.Guest[]
---@param buffer integer
---@param row integer the cell's last line
---@return table<string, fun()> shown
function M.show(shown, guests, buffer, row)
  local window = vim.fn.bufwinid(buffer)
  local now = {}
  for _, guest in ipairs(window ~= -1 and guests or {}) do
    local key = vim.json.encode({ guest.path, guest.columns, guest.above, window, row })
    if shown[key] then
      now[key] = shown[key]
    else
      local good, result = pcall(guest.show, guest, buffer, window, row)
      if good then
        now[key] = result
      else
        log.write("error", "a picture: " .. result)
      end
    end
  end
  for key, take_away in pairs(shown) do
    if not now[key] then
      pcall(take_away)
    end
  end
  return now
end

return M
