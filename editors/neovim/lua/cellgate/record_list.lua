-- `record_list` is the list of what happened in a workspace, newest first, from its record.
local changes_list = require("cellgate.changes_list")
local list_window = require("cellgate.list_window")
local notify = require("cellgate.notify")
local places = require("cellgate.places")
local record_words = require("cellgate.record_words")
local rpc = require("cellgate.rpc")
local scratch = require("cellgate.scratch")
local session = require("cellgate.session")
local tool_servers = require("cellgate.tool_servers")
local workspace = require("cellgate.workspace")

local M = {}

local page_size = 100
local max_limit = 1000 -- of a request

---@class cellgate.RecordFilter
---@field text? string
---@field executionId? string

---@class cellgate.RecordRow what a key acts on
---@field entry RecordEntry
---@field decided? RecordEntry the decision that allowed what ended

-- Reads as many entries as are wanted, newest first.
---@param here cellgate.Session
---@param filter cellgate.RecordFilter
---@param wanted integer
---@param done fun(problem: string?, entries: RecordEntry[]?, last: RecordQueryResult?)
local function read_entries(here, filter, wanted, done)
  local entries = {}
  local function ask()
    local params = vim.tbl_extend("error", filter, { limit = math.min(wanted - #entries, max_limit) })
    params.beforeSeq = #entries > 0 and entries[#entries].seq or nil
    here:request("record/query", params, function(problem, page)
      if problem then
        done(rpc.describe(problem))
        return
      end
      vim.list_extend(entries, page.entries)
      if page.more and #page.entries > 0 and #entries < wanted then
        ask()
      else
        done(nil, entries, page)
      end
    end)
  end
  ask()
end

-- By the `seq` of an end, the decision that allowed it: each run of a sidecar counts its decisions from 1.
local function decisions_of(entries)
  local by_number, found = {}, {}
  for i = #entries, 1, -1 do
    local entry = entries[i]
    local number = ("%s %s"):format(entry.data.run, entry.data.number)
    if entry.type == "action.decided" then
      by_number[number] = entry
    elseif entry.type == "action.ended" then
      found[entry.seq] = by_number[number]
    end
  end
  return found
end

---@param filter cellgate.RecordFilter
---@param entries RecordEntry[]
---@param last RecordQueryResult
---@return cellgate.ListRow[]
local function rows_of(filter, entries, last)
  local rows = {}
  if filter.text then
    rows[#rows + 1] = { text = ("only what contains “%s”"):format(filter.text), group = "Comment" }
  end
  if filter.executionId then
    rows[#rows + 1] = { text = "only one execution; f shows all again", group = "Comment" }
  end
  if last.problem then
    rows[#rows + 1] = { text = last.problem, group = "DiagnosticWarn" }
  end
  local decisions = decisions_of(entries)
  for _, entry in ipairs(entries) do
    local decided = decisions[entry.seq]
    rows[#rows + 1] = {
      text = list_window.clock_time(entry.time) .. "  " .. record_words.line(entry, decided),
      value = { entry = entry, decided = decided },
      id = tostring(entry.seq),
      group = record_words.group(entry),
    }
  end
  if last.more then
    rows[#rows + 1] = { text = "… + loads older ones", group = "Comment" }
  end
  return rows
end

---@param uri string
---@param row integer
local function show_line(uri, row)
  local buffer = workspace.buffer(uri)
  if not buffer then
    local file = uri:find("^file://") and vim.uri_to_fname(uri)
    if not file or not vim.uv.fs_stat(file) then
      notify.show("its file is not there", vim.log.levels.WARN)
      return
    end
    buffer = vim.fn.bufadd(file)
    vim.bo[buffer].buflisted = true
  end
  scratch.enter_file_window()
  vim.api.nvim_set_current_buf(buffer)
  pcall(vim.api.nvim_win_set_cursor, 0, { row + 1, 0 })
end

-- Goes to the line that made the call; without one, to the cell that ran.
---@param here cellgate.Session
---@param entry RecordEntry
local function go_to_source(here, entry)
  local id, origin = entry.executionId, entry.data.origin
  if origin and origin.uri then
    show_line(origin.uri, places.row_of(id, origin.line))
    return
  end
  if not id then
    notify.show("this entry has no source line", vim.log.levels.WARN)
    return
  end
  local params = { executionId = id, types = { "execution.started" }, limit = 1 }
  here:request(
    "record/query",
    params,
    list_window.or_tell(function(result)
      local cell = result.entries[1] and result.entries[1].data.cell
      if cell then
        show_line(cell.uri, places.row_of(id, cell.line))
      else
        notify.show("this code was in no file", vim.log.levels.WARN)
      end
    end)
  )
end

---@param here cellgate.Session
local function verify(here)
  here:request(
    "record/verify",
    {},
    list_window.or_tell(function(result)
      if not result.ok then
        local words = "the record is not as it was written" .. (result.problem and ": " .. result.problem or "")
        notify.show(words, vim.log.levels.ERROR)
      elseif result.entries == 1 then
        notify.show("1 entry, as it was written")
      else
        notify.show(("%d entries, as they were written"):format(result.entries))
      end
    end)
  )
end

---@param here cellgate.Session
---@param entry RecordEntry
local function open_output(here, entry)
  local execution = here.executions[entry.executionId]
  if execution then
    require("cellgate.output_window").open(execution)
  else
    notify.show("its output is not there any more", vim.log.levels.WARN)
  end
end

---@param does string
---@param act fun(id: string)
---@return cellgate.ListKey
local function of_its_execution(does, act)
  return {
    does = does,
    act = function(value)
      if value.entry.executionId then
        act(value.entry.executionId)
      else
        notify.show("this row belongs to no execution", vim.log.levels.WARN)
      end
    end,
  }
end

-- The keys that change what is listed.
---@param view { filter: cellgate.RecordFilter, wanted: integer }
local function choosing_keys(view)
  return {
    f = {
      does = "its execution only",
      anywhere = true,
      act = function(value, refresh)
        local id = not view.filter.executionId and value and value.entry.executionId or nil
        if not id and not view.filter.executionId then
          notify.show("this row belongs to no execution", vim.log.levels.WARN)
          return
        end
        view.filter.executionId, view.wanted = id, page_size
        refresh()
      end,
    },
    ["+"] = {
      does = "older ones",
      anywhere = true,
      act = function(_, refresh)
        view.wanted = view.shown + page_size
        refresh()
      end,
    },
  }
end

--- Lists the entries that contain a text; all where it is empty.
---@param root string
---@param words string
function M.open(root, words)
  local here = session.of(root)
  local view = { filter = { text = words ~= "" and words or nil }, wanted = page_size, shown = 0, reads = 0 }
  list_window.open({
    name = "record",
    root = root,
    cut = true,
    events = { "CellgateExecution", "CellgateKernel", "CellgateApproval", "CellgateLogin" },
    read = function(done)
      view.reads = view.reads + 1
      local this = view.reads
      local filter = vim.deepcopy(view.filter)
      read_entries(here, filter, view.wanted, function(problem, entries, last)
        -- What was asked for later is newer, perhaps of another filter.
        if this ~= view.reads then
          return
        end
        view.shown = entries and #entries or 0
        done(problem, entries and rows_of(filter, entries, last))
      end)
    end,
    keys = vim.tbl_extend("error", choosing_keys(view), {
      ["<CR>"] = {
        does = "all of it",
        act = function(value)
          list_window.show_text({ name = "entry", root = root }, record_words.all(value.entry, value.decided))
        end,
      },
      gs = {
        does = "its source line",
        act = function(value)
          go_to_source(here, value.entry)
        end,
      },
      o = {
        does = "its output",
        act = function(value)
          open_output(here, value.entry)
        end,
      },
      c = of_its_execution("files that it changed", function(id)
        changes_list.files(root, id)
      end),
      S = of_its_execution("save a function of its code as a tool", function(id)
        tool_servers.save(root, id)
      end),
      v = {
        does = "verify the record",
        anywhere = true,
        act = function()
          verify(here)
        end,
      },
    }),
  })
end

return M
