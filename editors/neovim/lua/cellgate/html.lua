-- `html` opens an HTML output in the user's browser, on command: in a frame without scripts, in a page whose policy
-- loads nothing. The output can lay itself out, and nothing else.
local browser = require("cellgate.browser")

local M = {}

local function escaped(html)
  return (html:gsub("&", "&amp;"):gsub('"', "&quot;"))
end

local policy = [[<meta http-equiv="Content-Security-Policy"
  content="default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:">]]

local page = [[<!DOCTYPE html>
<html>
<head>
<meta charset="utf-8">
%s
<meta http-equiv="x-dns-prefetch-control" content="off">
<meta name="referrer" content="no-referrer">
<title>cellgate: output</title>
<style>html, body, iframe { margin: 0; border: 0; width: 100%%; height: 100%%; }</style>
</head>
<body><iframe sandbox srcdoc="%s"></iframe></body>
</html>
]]

--- The page that shows HTML of an output.
---@param html string
---@return string
function M.page(html)
  -- The policy is the frame's too, so that its links open nothing.
  return page:format(policy, escaped(policy .. html))
end

--- Opens the last HTML of an execution.
---@param execution cellgate.Execution
---@return string? problem
function M.open(execution)
  local found
  for _, item in ipairs(execution.outputs.items) do
    local html = item.data and item.data["text/html"]
    if type(html) == "table" then
      html = table.concat(html)
    end
    found = html or found
  end
  if type(found) ~= "string" then
    return "this cell has no html in its output"
  end
  local folder = vim.fs.joinpath(vim.fn.stdpath("cache") --[[@as string]], "cellgate", "html")
  vim.fn.mkdir(folder, "p", 448) -- 0700
  local path = vim.fs.joinpath(folder, vim.fn.sha256(found) .. ".html")
  local file, problem = io.open(path, "wb")
  if not file then
    return problem
  end
  file:write(M.page(found))
  file:close()
  return browser.open(path)
end

return M
