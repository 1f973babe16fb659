-- `changes_words` is changed files in words. Their names come from code: what shows them escapes them.
local M = {}

---@param count integer
---@return string
function M.files(count)
  return count == 1 and "1 file" or count .. " files"
end

--- How many files an execution changed.
---@param here cellgate.Session
---@param id string
---@return string? words none where it changed none
function M.changed(here, id)
  local found = here:changes_of(id)
  return found and M.files(found.files) .. " changed" .. (here:is_undone(id) and ", undone" or "")
end

local function size(bytes)
  if bytes < 1000 then
    return bytes .. " B"
  end
  return bytes < 1e6 and ("%.1f kB"):format(bytes / 1e3) or ("%.1f MB"):format(bytes / 1e6)
end

local letters = { created = "A", modified = "M", deleted = "D" }

--- What a file is now, and was before where that differs.
---@param file ChangedFile
---@return string
function M.versions(file)
  local before, after = file.before, file.after
  local parts = {}
  if before and after and before.sha256 == after.sha256 then
    parts[1] = "same content"
  else
    local sizes = {}
    for _, version in ipairs({ before or after, before and after }) do
      sizes[#sizes + 1] = size(version.bytes)
    end
    parts[1] = table.concat(sizes, " → ")
  end
  if (before and before.link) or (after and after.link) then
    parts[#parts + 1] = "symbolic link"
  end
  if before and after and before.mode ~= after.mode then
    parts[#parts + 1] = ("mode %s → %s"):format(before.mode, after.mode)
  end
  return table.concat(parts, ", ")
end

---@param file ChangedFile
---@return string
function M.file(file)
  return ("%s %s  %s"):format(letters[file.kind], file.path, M.versions(file))
end

---@param problem PathProblem
---@return string
function M.problem(problem)
  return (problem.path == "" and "the workspace" or problem.path) .. ": " .. problem.why
end

--- What a user has to know of a list of changes, beside its files.
---@param list ChangesListResult
---@return string[]
function M.notes(list)
  local notes, others, missing = {}, #(list.overlapping or {}), list.notCovered or {}
  if others > 0 then
    notes[1] = (others == 1 and "another cell" or others .. " other cells")
      .. " ran meanwhile: these may be the changes of that, too"
  end
  if not list.complete and #missing == 0 then
    notes[#notes + 1] = "not all files of the workspace are covered"
  end
  for _, problem in ipairs(missing) do
    notes[#notes + 1] = "not covered: " .. M.problem(problem)
  end
  return notes
end

local undoings = { created = "delete", modified = "restore", deleted = "bring back" }

--- What an undo will do, to be confirmed: in one line, as the files are listed.
---@param list ChangesListResult
---@param file? ChangedFile the only one that is undone
---@return string
function M.question(list, file)
  if file then
    return ("Undo what changed in %s: %s it?"):format(file.path, undoings[file.kind])
  end
  local counts, parts = {}, {}
  for _, each in ipairs(list.files) do
    counts[each.kind] = (counts[each.kind] or 0) + 1
  end
  for _, kind in ipairs({ "created", "modified", "deleted" }) do
    parts[#parts + 1] = counts[kind] and ("%s %d"):format(undoings[kind], counts[kind])
  end
  local what = list.count and "" or ": " .. table.concat(parts, ", ")
  return ("Undo what changed in %s%s?"):format(M.files(list.count or #list.files), what)
end

return M
