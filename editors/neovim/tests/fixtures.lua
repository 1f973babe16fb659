-- `fixtures` makes buffers and records of output for specs.
local M = {}

--- A buffer with lines of a filetype; Python where none is given.
---@param lines string[]
---@param filetype? string
---@return integer
function M.buffer(lines, filetype)
  local buffer = vim.api.nvim_create_buf(true, false)
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, lines)
  vim.bo[buffer].filetype = filetype or "python"
  return buffer
end

--- A record of printed text.
---@param chunk string
---@param name? "stdout"|"stderr"
function M.stream(chunk, name)
  return { output = { output_type = "stream", name = name or "stdout", text = chunk } }
end

--- The last lines of an execution's output as text, and how many there are before them.
---@param outputs cellgate.Outputs
---@param most? integer
function M.words(outputs, most)
  local lines, hidden = outputs:tail(most or 20)
  return vim.tbl_map(function(line)
    local parts = {}
    for _, span in ipairs(line.picture and { { "picture" } } or line:spans()) do
      parts[#parts + 1] = span[1]
    end
    return table.concat(parts)
  end, lines),
    hidden
end

return M
