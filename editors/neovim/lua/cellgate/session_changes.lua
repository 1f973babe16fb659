-- `session_changes` is the part of `cellgate.Session` about changed files: which executions changed some, and which
-- undos.

---@class cellgate.Session
local Changes = {}

-- Of those from before this Neovim, so many of the record's newest.
local max_restored = 100

local function string_or_nil(value)
  return type(value) == "string" and value or nil
end

---@private
function Changes:add_changes(found)
  for i, each in ipairs(self.changes) do
    if each.executionId == found.executionId then
      table.remove(self.changes, i)
      break
    end
  end
  table.insert(self.changes, found)
end

Changes["on changes/found"] = function(self, params)
  self:add_changes(params)
  self:emit("CellgateChanges", { execution = params.executionId, files = params.files, undo_of = params.undoOf })
end

--- What was changed before is in the record.
---@private
---@param peer cellgate.Peer
function Changes:restore_changes(peer)
  peer:request(
    "record/query",
    { types = { "files.changed", "files.restored" }, limit = max_restored },
    function(problem, result)
      local known = self.changes
      self.changes = {}
      for i = problem and 0 or #result.entries, 1, -1 do
        local entry = result.entries[i]
        local files, complete = entry.data.files, entry.data.complete
        -- A record can be changed.
        if entry.executionId and type(files) == "number" and type(complete) == "boolean" then
          self:add_changes({
            executionId = entry.executionId,
            sessionId = entry.sessionId,
            agent = string_or_nil(entry.data.agent),
            undoOf = string_or_nil(entry.data.undoOf),
            files = files,
            complete = complete,
          })
        end
      end
      for _, found in ipairs(known) do
        self:add_changes(found)
      end
      self:emit("CellgateChanges", {})
    end
  )
end

--- What is known of the changes of an execution, or of an undo.
---@param id string
---@return ChangesFoundParams?
function Changes:changes_of(id)
  for _, found in ipairs(self.changes) do
    if found.executionId == id then
      return found
    end
  end
end

--- Whether all of its files are as before, by an undo that was not undone.
---@param id string
---@return boolean
function Changes:is_undone(id)
  local found, undo = self:changes_of(id), nil
  for _, each in ipairs(self.changes) do
    undo = each.undoOf == id and each or undo
  end
  return found ~= nil and undo ~= nil and undo.files >= found.files and not self:is_undone(undo.executionId)
end

return Changes
