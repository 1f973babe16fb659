-- `changes_list` is the list of the files that an execution changed, with keys that show and undo them, and the list of
-- the executions that changed some.
local changes_diff = require("cellgate.changes_diff")
local changes_words = require("cellgate.changes_words")
local list_window = require("cellgate.list_window")
local notify = require("cellgate.notify")
local session = require("cellgate.session")
local text = require("cellgate.text")

local M = {}

---@class cellgate.ChangesView a list of files, as it is shown
---@field here cellgate.Session
---@field id string execution or undo
---@field list? ChangesListResult once it was read
---@field refused PathProblem[] what prevented the last undo

-- Goes on when the user says so, who sees the list.
local function ask(question, go_on)
  vim.cmd.redraw()
  vim.ui.select({ "undo", "leave it as it is" }, { prompt = text.visible(question) }, function(_, index)
    if index == 1 then
      go_on()
    end
  end)
end

-- Makes files as they were before.
---@param view cellgate.ChangesView
---@param list? ChangesListResult whose
---@param file? ChangedFile the only one
---@param refresh fun()
local function undo(view, list, file, refresh)
  if not list or #list.files == 0 then
    notify.show("no files are known that it changed", vim.log.levels.WARN)
    return
  end
  ask(changes_words.question(list, file), function()
    local params = { executionId = list.executionId, paths = file and { file.path } or nil }
    view.here:request(
      "changes/undo",
      params,
      list_window.or_tell(function(result)
        view.refused = result.refused
        if #result.refused > 0 then
          notify.show("nothing was undone: the list says why", vim.log.levels.WARN)
        else
          notify.show(("changes to %s undone"):format(changes_words.files(#result.restored)))
        end
        refresh()
      end)
    )
  end)
end

---@param view cellgate.ChangesView
---@return cellgate.ListRow[]
local function rows_of(view)
  local list = view.list --[[@as ChangesListResult]]
  local rows, by_path = {}, {}
  for _, file in ipairs(list.files) do
    by_path[file.path] = file
  end
  for _, problem in ipairs(view.refused) do
    local file = by_path[problem.path]
    rows[#rows + 1] = {
      text = "not undone: " .. changes_words.problem(problem),
      group = "DiagnosticError",
      value = file and { file = file, since = true },
    }
  end
  if list.undoneBy then
    rows[#rows + 1] = { text = "changes of it were undone; R undoes the undo", group = "Comment" }
  end
  for _, note in ipairs(changes_words.notes(list)) do
    rows[#rows + 1] = { text = note, group = "DiagnosticWarn" }
  end
  for _, file in ipairs(list.files) do
    rows[#rows + 1] = { text = changes_words.file(file), value = { file = file }, id = file.path }
  end
  if list.count then
    rows[#rows + 1] = { text = ("… %d more"):format(list.count - #list.files), group = "Comment" }
  end
  return rows
end

local function show_diff(view, value)
  if value.since then
    changes_diff.open_since(view.here, view.id, value.file)
  else
    changes_diff.open(view.here, view.id, value.file)
  end
end

---@param view cellgate.ChangesView
---@return table<string, cellgate.ListKey>
local function keys_of(view)
  return {
    ["<CR>"] = {
      does = "before and after",
      act = function(value)
        show_diff(view, value)
      end,
    },
    u = {
      does = "undo the file",
      act = function(value, refresh)
        undo(view, view.list, value.file, refresh)
      end,
    },
    U = {
      does = "undo all",
      anywhere = true,
      act = function(_, refresh)
        undo(view, view.list, nil, refresh)
      end,
    },
    R = {
      does = "undo the undo",
      anywhere = true,
      act = function(_, refresh)
        local undone_by = view.list and view.list.undoneBy
        if not undone_by then
          notify.show("nothing of it was undone", vim.log.levels.WARN)
          return
        end
        view.here:request(
          "changes/list",
          { executionId = undone_by },
          list_window.or_tell(function(list)
            undo(view, list, nil, refresh)
          end)
        )
      end,
    },
  }
end

--- Lists the files that an execution changed, or an undo.
---@param root string
---@param id string
---@param asks? boolean whether to undo them, once they are listed
function M.files(root, id, asks)
  ---@type cellgate.ChangesView
  local view = { here = session.of(root), id = id, refused = {} }
  local read = list_window.by_request(view.here, "changes/list", { executionId = id }, function(list)
    view.list = list
    if asks then
      asks = false
      vim.schedule(function()
        undo(view, list, nil, view.refresh)
      end)
    end
    return rows_of(view)
  end)
  view.refresh = list_window.open({
    name = "changes/" .. id,
    root = root,
    events = { "CellgateChanges" },
    read = read,
    keys = keys_of(view),
  })
end

-- The execution behind an undo, or an undo of one.
local function origin_of(here, found)
  local undone = found.undoOf and here:changes_of(found.undoOf)
  if undone then
    return origin_of(here, undone)
  end
  return here.executions[found.undoOf or found.executionId]
end

--- Lists the executions that changed files, and their undos, newest first.
---@param root string
function M.executions(root)
  local here = session.of(root)
  list_window.open({
    name = "changes",
    root = root,
    events = { "CellgateChanges" },
    read = function(done)
      local rows = {}
      for i = #here.changes, 1, -1 do
        local found = here.changes[i]
        local execution = origin_of(here, found)
        -- Of others there is the record.
        if execution then
          local agent = execution.agent and execution.agent .. ": " or ""
          local code = vim.trim(execution.code or ""):match("^[^\n]*")
          local words = changes_words.changed(here, found.executionId)
          rows[#rows + 1] = {
            text = ("%s%s  %s%s"):format(agent, words, found.undoOf and "undo of " or "", code),
            value = found,
            id = found.executionId,
          }
        end
      end
      done(nil, rows)
    end,
    keys = {
      ["<CR>"] = {
        does = "its files",
        act = function(found)
          M.files(root, found.executionId)
        end,
      },
    },
  })
end

--- Lists the files that an execution changed; where it changed none, or there is none, what changed files.
---@param root string
---@param execution? cellgate.Execution
function M.open(root, execution)
  if execution and session.of(root):changes_of(execution.id) then
    M.files(root, execution.id)
  else
    M.executions(root)
  end
end

return M
