-- `outputs` is the end of an execution's output, bounded: the last lines of printed text, the last hundred displays.
-- The journal has all of it. It knows Jupyter's rules for streams, clear_output and update_display_data, and nothing of
-- windows.
local text = require("cellgate.text")

local M = {}

local max_lines = 200
local max_items = 100
local max_line_bytes = 8 * 1024

---@class cellgate.OutputItem
---@field kind "text"|"display"|"error"|"gap"
---@field stream? string of text: stdout or stderr
---@field lines? cellgate.OutputLine[] of text: the last one may go on
---@field dropped? integer of text: lines before these
---@field data? table<string, any> of a display: MIME types to content
---@field files? { mime: string, bytes: integer, path: string }[] of a display: content that is in files
---@field id? string of a display
---@field ename? string of an error
---@field evalue? string
---@field traceback? string[]
---@field bytes? integer of a gap
---@field shown? cellgate.OutputLine[] of all others: its lines in short, once they were asked for

---@class cellgate.Outputs
---@field items cellgate.OutputItem[]
---@field dropped integer items before these
local Outputs = {}
Outputs.__index = Outputs

---@return cellgate.Outputs
function M.new()
  return setmetatable({ items = {}, dropped = 0, clear_pending = false }, Outputs)
end

---@class cellgate.OutputLine never changed: a line that goes on becomes another one
---@field text? string as it was printed
---@field attributes? cellgate.Attributes before it
---@field group? string of all of it
---@field picture? cellgate.OutputItem that is shown here, in place of text
---@field private made? cellgate.Span[]
local Line = {}
Line.__index = Line

local function text_line(words, attributes, group)
  return setmetatable({ text = words, attributes = attributes, group = group }, Line)
end

--- The spans to show, made when they are first asked for: most lines are never shown.
---@return cellgate.Span[]
function Line:spans()
  if not self.made then
    self.made = text.spans(self.text, vim.deepcopy(self.attributes))
    for _, span in ipairs(self.group and self.made or {}) do
      table.insert(span[2], 1, self.group)
    end
  end
  return self.made
end

local function count_line_feeds(chunk)
  return select(2, chunk:gsub("\n", ""))
end

-- From where the last `count` lines of a chunk begin.
local function tail_start(chunk, lines, count)
  local at = 1
  for _ = 1, lines - count do
    at = chunk:find("\n", at, true) + 1
  end
  return at
end

---@private
function Outputs:add_text(stream, chunk)
  local item = self.items[#self.items]
  local group = stream == "stderr" and "DiagnosticWarn" or nil
  if not item or item.kind ~= "text" or item.stream ~= stream then
    item = { kind = "text", stream = stream, lines = { text_line("", {}, group) }, dropped = 0 }
    self:push(item)
  end
  local lines = item.lines
  local feeds = count_line_feeds(chunk)
  if feeds > max_lines then
    chunk = chunk:sub(tail_start(chunk, feeds, max_lines))
    item.dropped = item.dropped + #lines + feeds - max_lines - 1
    lines = { text_line("", {}, group) }
  end
  for i, piece in ipairs(vim.split(chunk, "\n", { plain = true })) do
    local open = lines[#lines]
    local line = text.after_returns((i == 1 and open.text or "") .. piece)
    if #line > max_line_bytes then
      line = line:sub(1, max_line_bytes):gsub("[\128-\191]*$", ""):gsub("[\192-\255]$", "") .. " …"
    end
    if i == 1 then
      lines[#lines] = text_line(line, open.attributes, group)
    else
      lines[#lines + 1] = text_line(line, text.attributes_after(open.text, open.attributes), group)
    end
  end
  local over = #lines - max_lines
  if over > 0 then
    lines = vim.list_slice(lines, over + 1)
    item.dropped = item.dropped + over
  end
  item.lines = lines
end

---@private
function Outputs:push(item)
  self.items[#self.items + 1] = item
  if #self.items > max_items then
    table.remove(self.items, 1)
    self.dropped = self.dropped + 1
  end
end

--- One record: an nbformat output, or one of Jupyter's two messages that change earlier ones.
---@param record table execute/output, or a record of output/read
function Outputs:add(record)
  if record.skippedBytes then
    self:push({ kind = "gap", bytes = record.skippedBytes })
    return
  end
  local output = record.output
  if output.output_type == "clear_output" then
    self.clear_pending = output.wait
    if not output.wait then
      self.items, self.dropped = {}, 0
    end
    return
  end
  if output.output_type == "update_display_data" then
    self:update(output.transient.display_id, output, record.files)
    return
  end
  if self.clear_pending then
    self.items, self.dropped, self.clear_pending = {}, 0, false
  end
  if output.output_type == "stream" then
    self:add_text(output.name, output.text)
  elseif output.output_type == "error" then
    self:push({ kind = "error", ename = output.ename, evalue = output.evalue, traceback = output.traceback })
  else
    self:push({
      kind = "display",
      data = output.data,
      files = record.files,
      id = output.transient and output.transient.display_id,
    })
  end
end

--- New content for displays that have this id.
---@return boolean found
function Outputs:update(id, output, files)
  local found = false
  for _, item in ipairs(self.items) do
    if item.id == id then
      item.data, item.files, item.shown = output.data, files, nil
      found = true
    end
  end
  return found
end

-- A traceback in short: which exception, and where in the user's own cells.
local function short_error(item)
  local line = item.ename .. (item.evalue ~= "" and ": " .. item.evalue:match("^[^\n]*") or "")
  return { text_line(text.visible(line), {}, "DiagnosticError") }
end

-- Colours go on from one line to the next.
local function text_lines(words)
  local lines, attributes = {}, {}
  for i, line in ipairs(vim.split(words, "\n", { plain = true })) do
    lines[i] = text_line(line, attributes)
    attributes = text.attributes_after(line, attributes)
  end
  return lines
end

local function has_picture(item)
  for mime in pairs(item.data) do
    if vim.startswith(mime, "image/") then
      return true
    end
  end
  for _, file in ipairs(item.files or {}) do
    if vim.startswith(file.mime, "image/") then
      return true
    end
  end
  return false
end

local function plain_text(data)
  local plain = data["text/plain"] or data["text/markdown"] or data["text/latex"]
  if type(plain) == "table" then
    plain = table.concat(plain)
  end
  return plain
end

local function note(words)
  return text_line(words, {}, "Comment")
end

---@param item cellgate.OutputItem
---@param full boolean whole tracebacks
---@return cellgate.OutputLine[]
function M.item_lines(item, full)
  if item.kind == "gap" then
    return { note(("… %d bytes are only in the journal: :Cellgate output"):format(item.bytes)) }
  elseif item.kind == "error" then
    if not full or #item.traceback == 0 then
      return short_error(item)
    end
    return text_lines(table.concat(item.traceback, "\n"))
  elseif item.kind == "text" then
    local lines = item.lines
    return lines[#lines].text == "" and vim.list_slice(lines, 1, #lines - 1) or lines
  end
  local out = {}
  if has_picture(item) then
    out[1] = setmetatable({ picture = item }, Line)
  else
    local plain = plain_text(item.data)
    if plain then
      out = text_lines(plain)
    end
    if item.data["text/html"] then
      out[#out + 1] = note("html: :Cellgate html opens it")
    end
  end
  for _, file in ipairs(item.files or {}) do
    if not vim.startswith(file.mime, "image/") then
      out[#out + 1] = note(("%s, %d bytes: %s"):format(text.visible(file.mime), file.bytes, text.visible(file.path)))
    end
  end
  if #out == 0 then
    local kinds = vim.tbl_keys(item.data)
    table.sort(kinds)
    out[1] = note("of a kind that is not shown: " .. text.visible(table.concat(kinds, ", ")))
  end
  return out
end

--- The last lines, and how many are before them.
---@param most integer
---@return cellgate.OutputLine[] lines
---@return integer hidden
function Outputs:tail(most)
  local groups, count, hidden = {}, 0, self.dropped
  for i = #self.items, 1, -1 do
    local item = self.items[i]
    if count >= most then
      hidden = hidden + (item.kind == "text" and #item.lines or 1)
    else
      local lines = item.kind == "text" and M.item_lines(item, false) or item.shown
      if not lines then
        lines = M.item_lines(item, false)
        item.shown = lines
      end
      local keep = math.min(#lines, most - count)
      hidden = hidden + #lines - keep
      table.insert(groups, 1, vim.list_slice(lines, #lines - keep + 1))
      count = count + keep
    end
    hidden = hidden + (item.dropped or 0)
  end
  local all = {}
  for _, lines in ipairs(groups) do
    vim.list_extend(all, lines)
  end
  return all, hidden
end

return M
