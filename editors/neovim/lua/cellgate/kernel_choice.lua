-- `kernel_choice` is `:Cellgate kernel`: the user chooses the kernel of a language for the sessions of a workspace,
-- until Neovim ends. It is one of this machine, one that already runs, or one on a Jupyter server.
local at_cursor = require("cellgate.at_cursor")
local cells = require("cellgate.cells")
local config = require("cellgate.config")
local list_window = require("cellgate.list_window")
local notify = require("cellgate.notify")
local session_settings = require("cellgate.session_settings")
local text = require("cellgate.text")
local workspace = require("cellgate.workspace")

local M = {}

---@class cellgate.KernelItem
---@field words string
---@field kernel? KernelChoice nil: that of the settings
---@field more? fun(done: fun(item: cellgate.KernelItem))

local last_url ---@type string? of a server, as it was typed

-- JavaScript runs in kernels for TypeScript, too.
local function speaks(spoken, language)
  return spoken:lower() == language:lower() or (language == "javascript" and spoken == "typescript")
end

-- That of the settings, where they name one.
local function url_of_settings(language)
  local kernel = config.values.kernels[language]
  return type(kernel) == "table" and kernel.server and kernel.server.url or nil
end

---@param kernels KernelInfo[]
---@param language string
---@param choice_of fun(info: KernelInfo): KernelChoice
---@return cellgate.KernelItem[]
local function items_of(kernels, language, choice_of)
  local items = {}
  for _, info in ipairs(kernels) do
    if speaks(info.language, language) then
      local words = info.interpreter and info.displayName or ("%s, %s"):format(info.displayName, info.name)
      if info.problem then
        words = words .. ", which cannot start (:Cellgate kernels says why)"
      end
      items[#items + 1] = { words = words, kernel = choice_of(info) }
    end
  end
  return items
end

---@param items cellgate.KernelItem[]
---@param prompt string
---@param done fun(item: cellgate.KernelItem)
local function select(items, prompt, done)
  vim.ui.select(items, {
    prompt = text.visible(prompt),
    format_item = function(item)
      return text.visible(item.words)
    end,
  }, function(item)
    if item and item.more then
      item.more(done)
    elseif item then
      done(item)
    end
  end)
end

local function choose_existing(done)
  local prompt = "Its connection file, or a name in Jupyter's runtime directory (empty: the newest): "
  vim.ui.input({ prompt = prompt, completion = "file" }, function(typed)
    if typed then
      local words = typed == "" and "the newest kernel that runs" or "the running kernel " .. typed
      done({ words = words, kernel = { connectionFile = vim.trim(typed) } })
    end
  end)
end

---@param here cellgate.Session
---@param language string
---@param url string
---@param done fun(item: cellgate.KernelItem)
local function choose_of_server(here, language, url, done)
  last_url = url
  local host = url:gsub("^%w+://", ""):gsub("/.*", "")
  here:request(
    "kernel/list",
    { server = { url = url } },
    list_window.or_tell(function(result)
      local items = items_of(result.kernels, language, function(info)
        return { server = { url = url, name = info.name } }
      end)
      if not items[1] then
        return notify.show(("%s has no kernel for %s"):format(host, language), vim.log.levels.WARN)
      end
      for _, item in ipairs(items) do
        item.words = ("%s on %s"):format(item.words, host)
      end
      select(items, "A kernel for " .. language, done)
    end)
  )
end

local function choose_server(here, language, done)
  local default = last_url or url_of_settings(language)
  vim.ui.input({ prompt = "Address of the Jupyter server, without its token: ", default = default }, function(typed)
    if typed and vim.trim(typed) ~= "" then
      choose_of_server(here, language, vim.trim(typed), done)
    end
  end)
end

---@param here cellgate.Session
---@param language string
---@param item cellgate.KernelItem
local function take(here, language, item)
  local function choose()
    workspace.choose_kernel(here.root, language, item.kernel)
  end
  local id = workspace.session(here.root, language) or "default"
  if here.kernels[id] and here.kernels[id] ~= "dead" then
    return session_settings.offer_end(here, id, choose)
  end
  choose()
  local unheld = workspace.is_elsewhere(item.kernel) and ", unsandboxed" or ""
  notify.show(("the next cell has %s%s"):format(text.visible(item.words), unheld))
end

---@param url? string of a server
---@return string? problem
local function act(url)
  local buffer = at_cursor.buffer()
  local here = at_cursor.session()
  local language = workspace.language(buffer, cells.at(buffer, at_cursor.row()))
  if not language then
    return "of which language? Set 'filetype', or go to a cell that names one"
  end
  local function done(item)
    take(here, language, item)
  end
  if url then
    return choose_of_server(here, language, url, done)
  end
  here:request(
    "kernel/list",
    {},
    list_window.or_tell(function(result)
      local items = { { words = "that of the settings, else the first of these" } } ---@type cellgate.KernelItem[]
      vim.list_extend(
        items,
        items_of(result.kernels, language, function(info)
          return info.source == "interpreter" and { interpreter = info.interpreter } or { name = info.name }
        end)
      )
      items[#items + 1] = { words = "a kernel that already runs, without a sandbox", more = choose_existing }
      items[#items + 1] = {
        words = "a kernel on a Jupyter server, without a sandbox",
        more = function(next_step)
          choose_server(here, language, next_step)
        end,
      }
      select(items, ("Kernel of new sessions for %s"):format(language), done)
    end)
  )
end

---@type cellgate.Command
M.command = {
  does = "Chooses the kernel for the language at the cursor: one of this machine, one that already runs, or one on a Jupyter"
    .. " server, whose address may be given. It is for this workspace, until Neovim ends; the setting `kernels` lasts. If a"
    .. " kernel runs, you are asked whether to end it.",
  arguments = "[url]",
  act = function(arguments)
    return act(arguments[1])
  end,
}

return M
