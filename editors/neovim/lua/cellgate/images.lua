-- `images` shows an output's pictures: as paths of files, or as pictures below the cell where the terminal or another
-- plugin can draw them.
local config = require("cellgate.config")
local text = require("cellgate.text")

local M = {}

local endings = { ["image/png"] = "png", ["image/jpeg"] = "jpg", ["image/gif"] = "gif", ["image/svg+xml"] = "svg" }
local preferred = { "image/png", "image/jpeg", "image/gif", "image/svg+xml" }

local function folder()
  local path = vim.fs.joinpath(vim.fn.stdpath("cache") --[[@as string]], "cellgate", "pictures")
  vim.fn.mkdir(path, "p", 448) -- 0700
  return path
end

--- The file of a picture; what came in a message is written to one, whose name is the hash of what came.
---@param item cellgate.OutputItem
---@return string? path
---@return string? mime
function M.file(item)
  for _, mime in ipairs(preferred) do
    for _, file in ipairs(item.files or {}) do
      if file.mime == mime then
        return file.path, mime
      end
    end
    local content = item.data[mime]
    if type(content) == "table" then
      content = table.concat(content)
    end
    if type(content) == "string" then
      local bytes = content
      if mime ~= "image/svg+xml" then
        local good, decoded = pcall(vim.base64.decode, (content:gsub("%s", "")))
        if not good then
          return nil
        end
        bytes = decoded
      end
      local path = vim.fs.joinpath(folder(), vim.fn.sha256(content) .. "." .. endings[mime])
      if not vim.uv.fs_stat(path) then
        local file = io.open(path, "wb")
        if not file then
          return nil
        end
        file:write(bytes)
        file:close()
      end
      return path, mime
    end
  end
end

--- The rows that stand for a picture below a cell.
---@param item cellgate.OutputItem
---@param width integer
---@return cellgate.Span[][]
---@return cellgate.Guest? guest what another plugin draws there
function M.lines(item, width)
  local path, mime = M.file(item)
  if not path then
    return { { { "a picture that cannot be read", { "DiagnosticWarn" } } } }
  end
  local kitty = require("cellgate.kitty")
  if
    mime == "image/png" and (config.values.images == "kitty" or (config.values.images == "auto" and kitty.is_there()))
  then
    local rows = kitty.rows(path, width)
    if rows then
      return rows
    end
  end
  local guest = require("cellgate.image_plugins").open(path, width)
  if guest and guest.rows > 0 then
    local rows = {}
    for i = 1, guest.rows do
      rows[i] = {}
    end
    return rows, guest
  end
  return text.wrap_spans({ { "picture: " .. text.visible(path), { "Underlined" } } }, width), guest
end

return M
