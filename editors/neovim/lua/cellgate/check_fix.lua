-- `check_fix` does what the diagnostics of `check` at the cursor offer: it makes their edits, or runs
-- `:Cellgate install` for what is missing.
local check = require("cellgate.check")
local notify = require("cellgate.notify")
local text = require("cellgate.text")

local M = {}

---@class cellgate.Fix
---@field words string
---@field apply fun()

local changed = "the text was changed since it was checked: :Cellgate check looks again"

local function apply(buffer, edits, tick)
  if vim.api.nvim_buf_get_changedtick(buffer) ~= tick then
    notify.show(changed, vim.log.levels.WARN)
    return
  end
  -- From the end, so that each place is still there.
  local ordered = vim.list_slice(edits)
  table.sort(ordered, function(a, b)
    return a.lnum > b.lnum or (a.lnum == b.lnum and a.col > b.col)
  end)
  for _, edit in ipairs(ordered) do
    local lines = vim.split(edit.text, "\n", { plain = true })
    vim.api.nvim_buf_set_text(buffer, edit.lnum, edit.col, edit.end_lnum, edit.end_col, lines)
  end
  check.by_itself(buffer)
end

local function edit_words(edits, message)
  local new = vim.trim(edits[1].text)
  if #edits > 1 or new == "" then
    return "fix: " .. message
  end
  local edit = edits[1]
  local is_insertion = edit.lnum == edit.end_lnum and edit.col == edit.end_col
  return (is_insertion and "insert " or "replace with ") .. text.visible((new:gsub("\n", " ")))
end

local function install_command()
  return require("cellgate.commands").all.install
end

---@param buffer integer
---@param diagnostic vim.Diagnostic
---@return cellgate.Fix[]
local function fixes_of(buffer, diagnostic)
  local known = diagnostic.user_data.cellgate
  local fixes = {}
  if #known.edits > 0 then
    fixes[1] = {
      words = edit_words(known.edits, diagnostic.message),
      apply = function()
        apply(buffer, known.edits, known.tick)
      end,
    }
  end
  if known.install and install_command() then
    fixes[#fixes + 1] = {
      words = "install " .. text.visible(table.concat(known.install, " ")),
      apply = function()
        local arguments = vim.list_extend({ "install" }, known.install)
        require("cellgate.commands").run({ fargs = arguments, range = 0 })
      end,
    }
  end
  return fixes
end

local function covers(diagnostic, column)
  return diagnostic.col <= column and (diagnostic.end_lnum > diagnostic.lnum or column < diagnostic.end_col)
end

--- Of the diagnostics at the cursor, else of those of its line.
---@return cellgate.Fix[]
local function fixes_here()
  local buffer = vim.api.nvim_get_current_buf()
  local row, column = unpack(vim.api.nvim_win_get_cursor(0))
  local of_line = vim.diagnostic.get(buffer, { namespace = check.namespace, lnum = row - 1 })
  local at_cursor = vim.tbl_filter(function(diagnostic)
    return covers(diagnostic, column)
  end, of_line)
  local fixes = {}
  for _, diagnostic in ipairs(at_cursor[1] and at_cursor or of_line) do
    vim.list_extend(fixes, fixes_of(buffer, diagnostic))
  end
  return fixes
end

--- Applies the fix at the cursor; of several, the one that the user chooses.
---@return string? problem
function M.fix()
  local fixes = fixes_here()
  if #fixes == 0 then
    return "nothing here has a fix; :Cellgate check looks for what has"
  elseif #fixes == 1 then
    fixes[1].apply()
    return
  end
  vim.ui.select(fixes, {
    prompt = "cellgate: which fix?",
    format_item = function(fix)
      return fix.words
    end,
  }, function(fix)
    if fix then
      fix.apply()
    end
  end)
end

---@type cellgate.Command
M.command = {
  does = "Mends what `:Cellgate check` found at the cursor: makes its edits, or installs the package that is missing. With"
    .. " several ways you choose.",
  act = M.fix,
}

return M
