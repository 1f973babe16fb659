-- `runner` runs specs inside Neovim, which has to draw its screen:
-- `nvim --clean -n --headless -c 'luafile runner.lua'`, with a pattern of names in FILTER. A spec is a file
-- `*_spec.lua` that calls `it(name, function)`. The plugin's modules are loaded again for each, so that no state is
-- left.
local folder = vim.fn.fnamemodify(debug.getinfo(1, "S").source:sub(2), ":p:h")
vim.opt.rtp:prepend(vim.fs.dirname(folder))
package.path = folder .. "/?.lua;" .. package.path
local scratch = vim.fn.tempname()
for _, name in ipairs({ "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME" }) do
  vim.env[name] = scratch
end

vim.notify = function() end

local pattern = vim.env.FILTER or ""
local passed, failed = 0, {}

--- Waits for a condition; in vain, it says what there was instead.
function _G.wait(condition, describe)
  if not vim.wait(20000, condition, 2) then
    error("waited in vain for " .. (type(describe) == "function" and describe() or describe), 2)
  end
end

function _G.equal(got, expected)
  if not vim.deep_equal(got, expected) then
    error("expected " .. vim.inspect(expected) .. ", got " .. vim.inspect(got), 2)
  end
end

function _G.it(name, act)
  if not name:find(pattern) then
    return
  end
  for module in pairs(package.loaded) do
    if module:find("^cellgate") then
      package.loaded[module] = nil
    end
  end
  vim.cmd("silent! %bwipeout!")
  local good, problem = xpcall(act, debug.traceback)
  if good then
    passed = passed + 1
  else
    failed[#failed + 1] = name .. "\n" .. problem
  end
end

for _, file in ipairs(vim.fn.glob(folder .. "/*_spec.lua", true, true)) do
  dofile(file)
end
for _, words in ipairs(failed) do
  io.stdout:write("FAIL: ", words, "\n\n")
end
io.stdout:write(("Ran %d tests in Neovim %s\n"):format(passed + #failed, tostring(vim.version())))
io.stdout:write(#failed == 0 and "OK\n" or ("FAILED (failures=%d)\n"):format(#failed))
os.exit(#failed == 0 and 0 or 1)
