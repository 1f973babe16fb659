-- `check` has the sidecar check the code of a buffer, and shows what it finds as diagnostics: by `:Cellgate check`, and
-- when a file is written (setting `check`), which connects to no sidecar. A buffer has one request at a time.
local at_cursor = require("cellgate.at_cursor")
local cells = require("cellgate.cells")
local config = require("cellgate.config")
local log = require("cellgate.log")
local notify = require("cellgate.notify")
local rpc = require("cellgate.rpc")
local session = require("cellgate.session")
local text = require("cellgate.text")
local workspace = require("cellgate.workspace")

local M = {}

M.namespace = vim.api.nvim_create_namespace("cellgate.check")

---@class cellgate.CheckedPiece code that is checked by itself
---@field row integer of the buffer at which it begins
---@field params ValidateParams

---@class cellgate.Check one that is under way
---@field buffer integer
---@field here cellgate.Session
---@field tick integer of the buffer when it was read
---@field pieces cellgate.CheckedPiece[]
---@field found vim.Diagnostic[]
---@field checkers table<string, true>
---@field by_command boolean the user typed it, and a message says what came of it
---@field cancel? fun() the request under way
---@field later? fun() the check that comes in place of this one

---@type table<integer, cellgate.Check> by buffer
local running = {}

---@type table<string, true> programs that the log has named
local missing = {}

-- The protocol's limit.
local max_code = 1024 * 1024
local method_not_found = -32601

local severities = {
  error = vim.diagnostic.severity.ERROR,
  warning = vim.diagnostic.severity.WARN,
  info = vim.diagnostic.severity.INFO,
}

-- Of a place in code that begins at `row`: a row of the buffer, and a column in bytes.
local function position(lines, row, line, column)
  local found = lines[row + line + 1]
  if not found then
    return #lines - 1, #lines[#lines]
  end
  local byte = vim.fn.byteidxcomp(found, column)
  return row + line, byte < 0 and #found or byte
end

---@param lines string[] of the buffer
---@param row integer
---@param place Diagnostic|TextEdit
local function range(lines, row, place)
  local lnum, col = position(lines, row, place.line, place.column)
  local end_lnum, end_col = position(lines, row, place.endLine, place.endColumn)
  return { lnum = lnum, col = col, end_lnum = end_lnum, end_col = end_col }
end

---@param lines string[]
---@param row integer at which the code begins
---@param finding Diagnostic
---@param tick integer of the buffer: edits fit no other text
---@return vim.Diagnostic
local function diagnostic_of(lines, row, finding, tick)
  local edits = vim.tbl_map(function(edit)
    return vim.tbl_extend("error", range(lines, row, edit), { text = edit.newText })
  end, finding.edits or {})
  return vim.tbl_extend("error", range(lines, row, finding), {
    severity = severities[finding.severity],
    message = text.visible(finding.message),
    source = "cellgate",
    code = text.visible(finding.rule),
    user_data = { cellgate = { edits = edits, install = finding.install, tick = tick } },
  })
end

-- Each cell, or all of a file of a language that kernels speak.
local function parts_of(buffer)
  if #cells.all(buffer) > 0 then
    return cells.runnable(buffer)
  end
  local last = vim.api.nvim_buf_line_count(buffer) - 1
  return workspace.knows(vim.bo[buffer].filetype) and { { code_first = 0, code_last = last } } or {}
end

-- The code of the pieces that are of that language, as far back as the protocol's limit of one text.
---@param pieces cellgate.CheckedPiece[]
---@param language string
---@return string[]?
local function context_of(pieces, language)
  local context, size = {}, 0
  for at = #pieces, 1, -1 do
    local params = pieces[at].params
    if params.language == language then
      size = size + #params.code
      if size > max_code or #context == 1000 then
        break
      end
      table.insert(context, 1, params.code)
    end
  end
  return context[1] and context or nil
end

---@param buffer integer
---@param here cellgate.Session
---@return cellgate.CheckedPiece[]
local function pieces_of(buffer, here)
  local pieces = {}
  for _, part in ipairs(parts_of(buffer)) do
    local language = workspace.language(buffer, part)
    local code = table.concat(vim.api.nvim_buf_get_lines(buffer, part.code_first, part.code_last + 1, false), "\n")
    if language and code:find("%S") and #code < max_code then
      local id = workspace.session(here.root, language) or "default"
      local status = here.kernels[id]
      pieces[#pieces + 1] = {
        row = part.code_first,
        params = {
          code = code .. "\n",
          context = context_of(pieces, language),
          language = language,
          sessionId = status and status ~= "dead" and id or nil,
        },
      }
    end
  end
  return pieces
end

---@param check cellgate.Check
---@param piece cellgate.CheckedPiece
---@param result ValidateResult
local function take(check, piece, result)
  local lines = vim.api.nvim_buf_get_lines(check.buffer, 0, -1, false)
  for _, finding in ipairs(result.diagnostics) do
    table.insert(check.found, diagnostic_of(lines, piece.row, finding, check.tick))
  end
  for _, name in ipairs(result.checkers) do
    check.checkers[name] = true
  end
  for _, program in ipairs(result.missing or {}) do
    if not missing[program] then
      missing[program] = true
      log.write("info", "checks of code would find more with " .. text.visible(program))
    end
  end
end

---@param check cellgate.Check
local function tell(check)
  local names = vim.tbl_keys(check.checkers)
  table.sort(names)
  if #check.found > 0 then
    notify.show(("%d found; :Cellgate fix mends what is at the cursor, where it can"):format(#check.found))
  elseif names[1] then
    notify.show("nothing was found by " .. table.concat(names, ", "))
  else
    notify.show("nothing here checks this code")
  end
end

---@param check cellgate.Check
---@param problem? cellgate.RpcError
local function finish(check, problem)
  running[check.buffer] = nil
  if check.later then
    check.later()
  elseif problem then
    local is_older = problem.code == method_not_found
    if check.by_command then
      local words = is_older and "the sidecar is of an older version, which does not check code"
      notify.show(words or rpc.describe(problem), is_older and vim.log.levels.INFO or vim.log.levels.ERROR)
    elseif not is_older then
      log.write("warning", "code was not checked: " .. rpc.describe(problem))
    end
  -- What was typed meanwhile has moved the places; the next write brings them.
  elseif vim.api.nvim_buf_is_loaded(check.buffer) and vim.api.nvim_buf_get_changedtick(check.buffer) == check.tick then
    vim.diagnostic.set(M.namespace, check.buffer, check.found)
    if check.by_command then
      tell(check)
    end
  end
end

---@param check cellgate.Check
---@param number integer of the piece
local function next_piece(check, number)
  local piece = check.pieces[number]
  local is_current = vim.api.nvim_buf_is_loaded(check.buffer)
    and vim.api.nvim_buf_get_changedtick(check.buffer) == check.tick
  if not piece or check.later or not is_current then
    return finish(check)
  end
  check.here.connection:ready(function(problem, peer)
    if not peer then
      return finish(check, {
        code = 0,
        message = problem --[[@as string]],
      })
    end
    local id = peer:request("validate", piece.params, function(failed, result)
      check.cancel = nil
      if failed then
        return finish(check, failed)
      end
      if vim.api.nvim_buf_is_loaded(check.buffer) then
        take(check, piece, result)
      end
      next_piece(check, number + 1)
    end)
    check.cancel = function()
      peer:cancel(id)
    end
  end)
end

---@param buffer integer
---@param here cellgate.Session
---@param by_command boolean
local function start(buffer, here, by_command)
  local before = running[buffer]
  if before then
    before.later = function()
      if vim.api.nvim_buf_is_loaded(buffer) then
        start(buffer, here, by_command)
      end
    end
    if before.cancel then
      before.cancel()
    end
    return
  end
  local check = {
    buffer = buffer,
    here = here,
    tick = vim.api.nvim_buf_get_changedtick(buffer),
    pieces = pieces_of(buffer, here),
    found = {},
    checkers = {},
    by_command = by_command,
  }
  running[buffer] = check
  next_piece(check, 1)
end

--- Checks a buffer, and says what came of it.
---@param buffer integer
function M.check(buffer)
  start(buffer, session.of(workspace.root(buffer)), true)
end

--- Checks a buffer whose workspace is connected.
---@param buffer integer
function M.by_itself(buffer)
  local here = session.all[workspace.root(buffer)]
  if here and here.connection.state == "ready" then
    start(buffer, here, false)
  end
end

--- Checks files as they are written.
function M.setup()
  vim.api.nvim_create_autocmd("BufWritePost", {
    group = vim.api.nvim_create_augroup("cellgate.check", {}),
    callback = function(event)
      if config.values.check == "write" and vim.bo[event.buf].buftype == "" then
        M.by_itself(event.buf)
      end
    end,
  })
end

---@type cellgate.Command
M.command = {
  does = "Checks the code of this buffer, each cell by itself. What is found is shown as diagnostics.",
  act = function()
    M.check(at_cursor.buffer())
  end,
}

return M
