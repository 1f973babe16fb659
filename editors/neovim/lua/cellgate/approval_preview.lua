-- `approval_preview` is the small window in a corner that shows what waits for an answer. It never takes the cursor,
-- has no keys, and moves out of the cursor's way.
local answering = require("cellgate.elicitation_window")
local approvals = require("cellgate.approvals")
local config = require("cellgate.config")
local elicitations = require("cellgate.elicitations")
local page = require("cellgate.approval_page")
local places = require("cellgate.places")
local session = require("cellgate.session")
local workspace = require("cellgate.workspace")

local M = {}

---@class cellgate.Preview
---@field window integer
---@field asking (Approval|Elicitation)[]
---@field title string
---@field command string that enters the window in which it is answered
---@field rows integer how many there are

---@type cellgate.Preview?
local preview

-- Of the window's border.
local border = 2

local function cursor_row()
  local row = vim.fn.screenpos(0, vim.fn.line("."), vim.fn.col(".")).row
  return row > 0 and row or vim.fn.screenrow()
end

-- The rows of the screen, from 1, that should stay in view: the cursor's, and those of the lines that ask.
local function rows_of_interest(asking)
  local rows = { cursor_row() }
  for _, each in ipairs(asking) do
    local origin = each.origin
    local buffer = origin and origin.uri and workspace.buffer(origin.uri)
    local window = buffer and vim.fn.bufwinid(buffer) or -1
    local row = window ~= -1 and vim.fn.screenpos(window, places.row_of(each.executionId, origin.line) + 1, 1).row or 0
    if row > 0 then
      rows[#rows + 1] = row
    end
  end
  return rows
end

-- Where it leaves these rows free, and how high it may be there: below all of them, or above.
local function corner(rows, height)
  local last = vim.o.lines - vim.o.cmdheight - 1
  local below = last - math.max(unpack(rows)) - border
  local above = math.min(unpack(rows)) - 2 - border
  if below >= height or below >= above then
    return { anchor = "SE", row = last, col = vim.o.columns }, math.min(height, below)
  end
  return { anchor = "NE", row = 1, col = vim.o.columns }, math.min(height, above)
end

---@param what { asking: (Approval|Elicitation)[], title: string, command: string, rows: integer }
local function put(what)
  local wanted = math.min(what.rows, config.values.preview_lines, math.max(1, vim.o.lines - 6))
  local rows = rows_of_interest(what.asking)
  local place, height = corner(rows, wanted)
  if height < wanted then
    -- Leaves room for all of them, or at least for the cursor.
    place, height = corner({ rows[1] }, wanted)
  end
  height = math.max(1, height)
  local waiting, hidden = session.waiting_count(), what.rows - height
  return vim.tbl_extend("force", place, {
    relative = "editor",
    width = math.min(72, vim.o.columns - 4),
    height = height,
    title = (" %s%s "):format(what.title, waiting > 1 and (", %d wait"):format(waiting) or ""),
    footer = (" %s:Cellgate %s to answer "):format(
      hidden > 0 and ("%d more lines; "):format(hidden) or "",
      what.command
    ),
  })
end

function M.hide()
  if preview then
    page.close(preview.window)
    preview = vim.api.nvim_win_is_valid(preview.window) and preview or nil
  end
end

local function width_now()
  return math.min(72, vim.o.columns - 4)
end

---@class cellgate.Previewed
---@field rows cellgate.Row[]
---@field title string
---@field command string
---@field asking (Approval|Elicitation)[]
---@field items cellgate.PendingApproval[]

---@param group cellgate.Group
---@return cellgate.Previewed
local function of_group(group)
  return {
    rows = approvals.rows(group.items, width_now()),
    title = "cellgate asks",
    command = "approvals",
    asking = vim.tbl_map(function(item)
      return item.approval
    end, group.items),
    items = group.items,
  }
end

---@param item cellgate.PendingElicitation
---@return cellgate.Previewed
local function of_elicitation(item)
  return {
    -- Here nothing is edited: only the server's words are marked.
    rows = vim.tbl_map(function(row)
      return { text = row.text:gsub("^# ", ""):gsub("^#>", ">"), group = row.group }
    end, elicitations.rows(item, width_now())),
    title = item.elicitation.tool and "a tool server asks" or "something is needed first",
    command = "answer",
    asking = { item.elicitation },
    items = {},
  }
end

-- What is to be answered first: approvals, then the oldest question, unless one is being answered.
---@return cellgate.Previewed?
local function first()
  local group = approvals.groups()[1]
  if group then
    return of_group(group)
  end
  local item = not answering.is_open() and elicitations.find()
  return item and of_elicitation(item) or nil
end

--- Shows what is to be answered first, or nothing where nothing waits.
function M.show()
  M.hide()
  local what = not preview and config.values.preview and first()
  if not what then
    return
  end
  local buffer = page.new("cellgate-preview")
  page.fill(buffer, what.rows, what.items, "action")
  local shown = { asking = what.asking, title = what.title, command = what.command, rows = #what.rows }
  shown.window = vim.api.nvim_open_win(
    buffer,
    false,
    vim.tbl_extend("force", put(shown), {
      style = "minimal",
      border = "rounded",
      focusable = false,
      noautocmd = true,
      zindex = 60,
    })
  )
  page.set_window_options(shown.window)
  preview = shown
end

--- After the cursor has moved: it is never under the preview.
function M.avoid_cursor()
  if not preview or not vim.api.nvim_win_is_valid(preview.window) then
    return
  end
  local top = vim.api.nvim_win_get_position(preview.window)[1] + 1
  local row = cursor_row()
  if row >= top and row < top + vim.api.nvim_win_get_height(preview.window) + border then
    vim.api.nvim_win_set_config(preview.window, put(preview))
  end
end

return M
