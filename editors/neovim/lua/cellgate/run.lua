-- `run` runs code of a buffer: it chooses the lines, the kernel's session, and the place of the output.
local cells = require("cellgate.cells")
local notify = require("cellgate.notify")
local places = require("cellgate.places")
local rpc = require("cellgate.rpc")
local scratch = require("cellgate.scratch")
local session = require("cellgate.session")
local session_settings = require("cellgate.session_settings")
local workspace = require("cellgate.workspace")

local M = {}

---@class cellgate.Piece rows of a buffer to run
---@field first integer row whose line carries the state
---@field last integer row below which the output is shown
---@field code_first integer
---@field code_last integer
---@field language? string
---@field timeout? number seconds

---@param cell cellgate.Cell
---@return cellgate.Piece
local function piece_of(cell)
  return {
    first = cell.first,
    last = cell.fenced and cell.last or cell.code_last,
    code_first = cell.code_first,
    code_last = cell.code_last,
    language = cell.language,
    timeout = cell.timeout,
  }
end

-- The session of a language, started if it is not there.
local function with_session(here, language, done)
  local id, params = workspace.session(here.root, language)
  local settings, problem = session_settings.create_params(here.root, id or "default")
  if not settings then
    done(problem)
    return
  end
  if next(settings) then
    id = id or "default"
    params = vim.tbl_extend("force", params or { sessionId = id, language = language }, settings)
    if workspace.is_elsewhere(params.kernel) then
      params.env = nil -- it has its own
    end
  end
  -- A dead one may not have come to be.
  if not id or (here.kernels[id] and here.kernels[id] ~= "dead") then
    done(nil, id)
    return
  end
  here:request("session/create", params, function(failed)
    -- 1002: it is there already, which is as good.
    done(failed and failed.code ~= 1002 and rpc.describe(failed) or nil, id)
  end)
end

-- Says in which languages the code of a buffer could run that names none.
local function tell_languages(here)
  here:request("kernel/list", {}, function(problem, result)
    local names = {}
    for _, kernel in ipairs(problem and {} or result.kernels) do
      names[kernel.language] = true
    end
    local words = vim.tbl_keys(names)
    table.sort(words)
    local there = words[1] and " There are " .. table.concat(words, ", ") .. "." or ""
    notify.show("which language is this?" .. there .. " Set 'filetype', or write `# %% [python]`", vim.log.levels.WARN)
  end)
end

---@param buffer integer
---@param pieces cellgate.Piece[] run one after the other; an error ends them
function M.pieces(buffer, pieces)
  -- A list or a server's log is not the user's code, though it may look like some.
  if scratch.is_own(buffer) then
    notify.show("this is a window of cellgate: run code from the window of its file", vim.log.levels.WARN)
    return
  end
  if #pieces == 0 then
    notify.show("there is no code to run here", vim.log.levels.WARN)
    return
  end
  require("cellgate.open_files").look(buffer)
  local here = session.of(workspace.root(buffer))
  local uri = workspace.uri(buffer)
  local tick = vim.api.nvim_buf_get_changedtick(buffer)
  local by_language = {}
  for _, piece in ipairs(pieces) do
    local language = workspace.language(buffer, piece)
    if not language then
      return tell_languages(here)
    end
    by_language[language] = by_language[language] or {}
    local lines = vim.api.nvim_buf_get_lines(buffer, piece.code_first, piece.code_last + 1, false)
    table.insert(by_language[language], { piece = piece, code = table.concat(lines, "\n") .. "\n" })
  end
  for language, todo in pairs(by_language) do
    with_session(here, language, function(problem, id)
      if problem then
        notify.show(problem, vim.log.levels.ERROR)
        return
      end
      for _, each in ipairs(todo) do
        local piece = each.piece
        local execution = here:execute({
          code = each.code,
          session = id,
          cell = { uri = uri, line = piece.code_first },
          timeout = piece.timeout,
        })
        if vim.api.nvim_buf_is_valid(buffer) then
          local count = vim.api.nvim_buf_line_count(buffer)
          -- Lines that were changed since may be fewer.
          if piece.last < count or vim.api.nvim_buf_get_changedtick(buffer) == tick then
            local first = math.min(piece.first, count - 1)
            places.put(
              execution,
              buffer,
              first,
              math.min(piece.last, count - 1),
              first + piece.code_first - piece.first
            )
          end
        end
      end
    end)
  end
end

---@param buffer integer
---@param first integer row
---@param last integer row
function M.rows(buffer, first, last)
  local cell = cells.at(buffer, first)
  M.pieces(buffer, {
    {
      first = first,
      last = last,
      code_first = first,
      code_last = last,
      language = cell and cell.language,
      timeout = cell and cell.timeout,
    },
  })
end

local function here_and_row()
  return vim.api.nvim_get_current_buf(), vim.api.nvim_win_get_cursor(0)[1] - 1
end

local function runnable(buffer, wanted)
  return vim.tbl_map(piece_of, vim.tbl_filter(wanted, cells.runnable(buffer)))
end

--- The cell at the cursor; `advance` goes to the next one, which is made when there is none.
---@param advance? boolean
function M.cell(advance)
  local buffer, row = here_and_row()
  M.pieces(
    buffer,
    runnable(buffer, function(cell)
      return row >= cell.first and row <= cell.last
    end)
  )
  if not advance or scratch.is_own(buffer) then
    return
  end
  local next_cell = cells.next(buffer, row)
  if not next_cell and cells.at(buffer, row) and not cells.at(buffer, row).fenced and vim.bo[buffer].modifiable then
    local count = vim.api.nvim_buf_line_count(buffer)
    vim.api.nvim_buf_set_lines(buffer, count, count, false, { "", cells.new_marker(buffer), "" })
    next_cell = cells.next(buffer, row)
  end
  if next_cell then
    vim.api.nvim_win_set_cursor(0, { math.min(next_cell.code_first + 1, vim.api.nvim_buf_line_count(buffer)), 0 })
  end
end

function M.above()
  local buffer, row = here_and_row()
  M.pieces(
    buffer,
    runnable(buffer, function(cell)
      return cell.last < row
    end)
  )
end

function M.below()
  local buffer, row = here_and_row()
  M.pieces(
    buffer,
    runnable(buffer, function(cell)
      return cell.last >= row
    end)
  )
end

function M.all()
  local buffer = here_and_row()
  M.pieces(
    buffer,
    runnable(buffer, function()
      return true
    end)
  )
end

--- The whole buffer as one execution.
function M.file()
  local buffer = here_and_row()
  M.rows(buffer, 0, vim.api.nvim_buf_line_count(buffer) - 1)
end

function M.line()
  local buffer, row = here_and_row()
  M.rows(buffer, row, row)
end

--- 'operatorfunc': runs the lines that a motion went over.
function M.operator()
  local first = vim.api.nvim_buf_get_mark(0, "[")[1] - 1
  local last = vim.api.nvim_buf_get_mark(0, "]")[1] - 1
  M.rows(vim.api.nvim_get_current_buf(), first, last)
end

--- For a map with `expr`: waits for a motion.
---@return string
function M.start_operator()
  vim.o.operatorfunc = "v:lua.require'cellgate.run'.operator"
  return "g@"
end

--- The lines that are, or were last, selected.
function M.selection()
  local mode = vim.fn.mode()
  local first, last
  if mode:find("[vV\22]") then
    first, last = vim.fn.line("v"), vim.fn.line(".")
    vim.api.nvim_feedkeys("\27", "nx", false)
  else
    first, last = vim.fn.line("'<"), vim.fn.line("'>")
  end
  M.rows(vim.api.nvim_get_current_buf(), math.min(first, last) - 1, math.max(first, last) - 1)
end

return M
