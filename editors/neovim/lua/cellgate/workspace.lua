-- `workspace` is what a buffer belongs to: its workspace folder, and the kernel's session in which its code runs.
local config = require("cellgate.config")

local M = {}

local markers = { ".git", ".mcp.json", "mcptools", "pyproject.toml" }

---@param buffer integer
---@return string
function M.root(buffer)
  local shown = vim.b[buffer].cellgate_root
  if shown then
    return shown
  end
  if config.values.root then
    return vim.fs.normalize(config.values.root(buffer))
  end
  local name = vim.api.nvim_buf_get_name(buffer)
  if name == "" or name:find("^%w+://") then
    -- None, where it was deleted.
    return vim.fs.normalize(vim.uv.cwd() or vim.env.PWD or "(deleted)")
  end
  local found = vim.fs.root(name, markers)
  return vim.fs.normalize(found or vim.fs.dirname(name))
end

---@param buffer integer
---@return string
function M.uri(buffer)
  local name = vim.api.nvim_buf_get_name(buffer)
  return name == "" and ("untitled:" .. buffer) or vim.uri_from_fname(vim.fs.normalize(name))
end

--- The loaded buffer of a URI.
---@param uri string
---@return integer?
function M.buffer(uri)
  for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_is_loaded(buffer) and vim.bo[buffer].buftype == "" and M.uri(buffer) == uri then
      return buffer
    end
  end
end

-- What filetypes and fences call a language, where a kernelspec has another name for it.
local languages = {
  py = "python",
  python3 = "python",
  ipython = "python",
  js = "javascript",
  javascriptreact = "javascript",
  ts = "typescript",
  typescriptreact = "typescript",
  sh = "bash",
  shell = "bash",
  rmd = "R",
  r = "R",
}

-- Other languages that a cell of a file may be in.
local others = { "bash", "javascript", "julia", "lua", "octave", "perl", "python", "ruby", "typescript" }

--- Whether a name is one of a language, so that a cell can ask for it.
---@param name string in lower case
---@return boolean
function M.knows(name)
  return languages[name] ~= nil or vim.tbl_contains(others, name)
end

--- The language of a cell: what it names itself, else that of its buffer.
---@param buffer integer
---@param cell? { language?: string }
---@return string? language nil: neither says one
function M.language(buffer, cell)
  local name = cell and cell.language or vim.bo[buffer].filetype
  if name == "" then -- as where the detection of file types is off; what the text looks like is no word for it
    name = vim.filetype.match({ filename = vim.api.nvim_buf_get_name(buffer) }) or ""
  end
  if name ~= "" then
    return languages[name] or name
  end
end

-- A name, an interpreter's path, or a KernelChoice.
---@param kernel string|KernelChoice
---@return KernelChoice
local function choice(kernel)
  if type(kernel) == "table" then
    return kernel
  end
  return kernel:find("/") and { interpreter = kernel } or { name = kernel }
end

---@type table<string, table<string, string|KernelChoice>> by root and language: in place of the setting `kernels`
local chosen_kernels = {}

---@param root string
---@param language string
---@param kernel? string|KernelChoice nil: that of the settings
function M.choose_kernel(root, language, kernel)
  chosen_kernels[root] = chosen_kernels[root] or {}
  chosen_kernels[root][language] = kernel
end

---@param root string
---@param language string
---@return string|KernelChoice|nil
function M.kernel(root, language)
  return (chosen_kernels[root] or {})[language] or config.values.kernels[language]
end

--- Whether the kernel is not one that cellgate starts here: it has no sandbox, and an environment of its own.
---@param kernel KernelChoice?
---@return boolean
function M.is_elsewhere(kernel)
  return kernel ~= nil and (kernel.connectionFile or kernel.server) ~= nil
end

--- The session for a language: the root's default one for Python, else one of that language's name.
---@param root string
---@param language string
---@return string? id nil: the default one, which starts by itself
---@return table? params of session/create
function M.session(root, language)
  local kernel = M.kernel(root, language)
  local settings, launcher = config.values.sandbox_config, config.values.sandbox_launcher
  local image = language == "python" and config.values.sandbox_image or nil -- images have Python alone
  if language == "python" and not kernel and not settings and not launcher and not image then
    return nil
  end
  local chosen = kernel and choice(kernel) or nil
  local has_sandbox = not M.is_elsewhere(chosen)
  if has_sandbox and image then
    chosen = nil -- the image's Python is the kernel
  end
  local id = language == "python" and "default" or (language:gsub("[^%w_.-]", "_"):gsub("^[.-]", "_"):sub(1, 64))
  return id,
    {
      sessionId = id,
      language = language,
      kernel = chosen,
      sandbox = has_sandbox
          and (settings or launcher or image)
          and { configFile = settings, launcher = launcher, image = image }
        or nil,
    }
end

return M
