-- `health` is `:checkhealth cellgate`.
local compat = require("cellgate.compat")
local health = vim.health

local M = {}

function M.check()
  health.start("cellgate: Neovim")
  if compat.is_supported() then
    health.ok("Neovim " .. tostring(vim.version()))
  else
    health.error("Neovim " .. tostring(vim.version()) .. " is too old", "Use " .. compat.oldest .. " or newer")
  end
  health.info("log: " .. require("cellgate.log").path())

  health.start("cellgate: the program")
  local program, problem = require("cellgate.program").find()
  if not program then
    health.error(problem --[[@as string]])
    return
  end
  local version = vim.system({ program, "--version" }, { text = true }):wait(10000)
  if version.code ~= 0 then
    health.error(program .. " does not run: " .. vim.trim(version.stderr or ""))
    return
  end
  health.ok(("%s: %s"):format(program, vim.trim(version.stdout)))

  health.start("cellgate: this machine, as `cellgate doctor` sees it")
  local doctor = vim.system({ program, "doctor" }, { text = true }):wait(60000)
  for line in vim.trim((doctor.stdout or "") .. (doctor.stderr or "")):gmatch("[^\n]+") do
    health.info(line)
  end
  if doctor.code ~= 0 then
    health.error("something is missing; see above")
  end

  health.start("cellgate: connections")
  local sessions = require("cellgate.session").all
  for root, session in vim.spairs(sessions) do
    local connection = session.connection
    if connection.failure then
      health.error(("%s: %s"):format(root, connection.failure))
    else
      health.info(("%s: %s"):format(root, connection.state))
    end
  end
  if not next(sessions) then
    health.info("none yet")
  end
end

return M
