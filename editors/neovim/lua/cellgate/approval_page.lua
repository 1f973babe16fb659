-- A window's rows about approvals, and which of them Neovim has drawn: only that counts as shown, not what was put into
-- a buffer.
local approvals = require("cellgate.approvals")

local M = {}

local watching = vim.api.nvim_create_namespace("cellgate.approvals.drawn")
local colours = vim.api.nvim_create_namespace("cellgate.approvals.rows")

---@class cellgate.Page
---@field rows cellgate.Row[]
---@field items cellgate.Waiting[] whose rows they are
---@field with_text boolean the rows have all that there is to read of the items, not only choices
---@field drawn table<integer, true> rows
---@field drawn_at? number when the first of them was
---@field place? table where its window is when all of each row is on the screen

---@type table<integer, cellgate.Page> by buffer
local pages = {}

-- Tells approvals what of them has all of its rows, and all that are everyone's, on the screen.
local function note(page)
  local missing, missing_choices, missing_common = {}, {}, not page.with_text
  local choices = {}
  for i, row in ipairs(page.rows) do
    local drawn = page.drawn[i]
    if row.choice then
      choices[row.choice] = true
      missing_choices[row.choice] = missing_choices[row.choice] or not drawn
    elseif row.item and not drawn then
      missing[row.item.approval.approvalId] = true
    elseif not drawn then
      missing_common = true
    end
  end
  for _, item in ipairs(page.items) do
    local id = item.approval.approvalId
    if not missing_common and not missing[id] then
      approvals.set_displayed(id)
    end
    for number in pairs(choices) do
      if not missing_choices[number] then
        approvals.set_choice_displayed(id, number)
      end
    end
  end
end

-- Where a window is, and the screen around it. One that a person moved or made smaller, or a screen that changed, may
-- cut rows off or put windows above each other.
local function place_of(window)
  local position = vim.api.nvim_win_get_position(window)
  return {
    position[1],
    position[2],
    vim.api.nvim_win_get_width(window),
    vim.api.nvim_win_get_height(window),
    vim.o.lines,
    vim.o.columns,
    vim.o.cmdheight,
  }
end

vim.api.nvim_set_decoration_provider(watching, {
  on_win = function(_, window, buffer, top)
    local page = pages[buffer]
    if page and page.place and vim.deep_equal(page.place, place_of(window)) then
      page.drawn_at = page.drawn_at or approvals.now()
      for i = top + 1, math.min(top + vim.api.nvim_win_get_height(window), #page.rows) do
        page.drawn[i] = true
      end
      note(page)
    end
    return false
  end,
})

--- A buffer for rows.
---@param filetype string
---@return integer
function M.new(filetype)
  local buffer = vim.api.nvim_create_buf(false, true)
  vim.bo[buffer].bufhidden = "wipe"
  vim.bo[buffer].filetype = filetype
  vim.api.nvim_buf_attach(buffer, false, {
    on_detach = function()
      pages[buffer] = nil
    end,
  })
  return buffer
end

--- Puts rows into a buffer. None of them was drawn yet.
---@param buffer integer
---@param rows cellgate.Row[]
---@param items cellgate.Waiting[]
---@param with_text boolean
function M.fill(buffer, rows, items, with_text)
  vim.bo[buffer].modifiable = true
  vim.api.nvim_buf_set_lines(
    buffer,
    0,
    -1,
    false,
    vim.tbl_map(function(row)
      return row.text
    end, rows)
  )
  vim.bo[buffer].modifiable = false
  vim.api.nvim_buf_clear_namespace(buffer, colours, 0, -1)
  for i, row in ipairs(rows) do
    if row.group then
      vim.api.nvim_buf_set_extmark(buffer, colours, i - 1, 0, { end_col = #row.text, hl_group = row.group })
    end
  end
  pages[buffer] = { rows = rows, items = items, with_text = with_text, drawn = {} }
end

--- Where the window is now, all of each row is on the screen.
---@param buffer integer
---@param window integer
function M.set_place(buffer, window)
  pages[buffer].place = place_of(window)
end

--- Whether the window is where `set_place` found it, and the screen as it was.
---@param buffer integer
---@param window integer
function M.is_in_place(buffer, window)
  return pages[buffer].place ~= nil and vim.deep_equal(pages[buffer].place, place_of(window))
end

---@param buffer integer
---@return number? when it was first drawn as it is
function M.drawn_at(buffer)
  return pages[buffer] and pages[buffer].drawn_at
end

--- The quiet time begins anew.
---@param buffer integer
function M.begin_anew(buffer)
  pages[buffer].drawn_at = approvals.now()
end

---@param buffer integer
---@param line integer from 1
---@return cellgate.Row?
function M.row(buffer, line)
  return pages[buffer].rows[line]
end

--- How many rows were not drawn, of those without which nothing is allowed.
---@param buffer integer
---@return integer
function M.unseen(buffer)
  local page = pages[buffer]
  local count = 0
  for i, row in ipairs(page and page.rows or {}) do
    local about = row.item and { row.item } or page.items
    local matters = page.with_text or row.choice
    if matters and not page.drawn[i] and approvals.not_displayed(about, row.choice and { row.choice } or {}) then
      count = count + 1
    end
  end
  return count
end

---@param window integer
function M.set_window_options(window)
  for name, value in pairs({
    -- No row is longer than the window, so none wraps, and none can be shifted out to the left either.
    wrap = true,
    foldenable = false,
    conceallevel = 0,
    list = false,
    spell = false,
    scrolloff = 0,
  }) do
    vim.wo[window][name] = value
  end
end

--- A person may have closed it, and while the command-line window is open none can be.
---@param window? integer
function M.close(window)
  if window and vim.api.nvim_win_is_valid(window) then
    pcall(vim.api.nvim_win_close, window, true)
  end
end

return M
