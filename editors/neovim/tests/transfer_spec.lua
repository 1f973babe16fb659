-- Specs of `:Cellgate transfer`.

local function run_command(words)
  vim.b.cellgate_root = "/tmp"
  require("cellgate.commands").run({ fargs = vim.split(words, " "), range = 0 })
end

local function start()
  local fake = require("with_fake")()
  fake.connect("/tmp")
  fake.shown = {}
  vim.notify = function(words)
    fake.shown[#fake.shown + 1] = words
  end
  return fake
end

local function wait_shown(fake, words)
  wait(function()
    return vim.iter(fake.shown):any(function(each)
      return each:find(words, 1, true) ~= nil
    end)
  end, function()
    return words .. " in " .. vim.inspect(fake.shown)
  end)
end

it("transfer: the command sends what was typed, and says what was copied", function()
  local fake = start()
  fake.answers["session/transfer"] = function()
    return { type = "Data\226\128\174Frame", bytes = 2048 }
  end
  run_command("transfer rows typescript as table")
  wait_shown(fake, "table was copied to typescript: Data")
  wait_shown(fake, "Frame, 2 KiB")
  equal(
    vim.iter(fake.shown):any(function(each)
      return each:find("\226\128\174", 1, true) ~= nil
    end),
    false
  )
  run_command("transfer rows typescript")
  wait(function()
    return #fake:asked("session/transfer") == 2
  end, "the second request")
  equal(
    vim.tbl_map(function(each)
      return each.params
    end, fake:asked("session/transfer")),
    {
      { from = "default", to = "typescript", name = "rows", as = "table" },
      { from = "default", to = "typescript", name = "rows" },
    }
  )
end)

it("transfer: what cannot be copied is said, and what is not understood is not sent", function()
  local fake = start()
  fake.errors["session/transfer"] = { code = -32602, message = "rows[3].when is a datetime" }
  run_command("transfer rows typescript")
  wait_shown(fake, "rows[3].when is a datetime")
  for _, words in ipairs({ "transfer", "transfer rows", "transfer rows typescript to x", "transfer rows typescript as" }) do
    run_command(words)
  end
  equal(#fake:asked("session/transfer"), 1)
  wait_shown(fake, "which variable, and to which session?")
end)

it("transfer: the sessions that there are complete it", function()
  local fake = start()
  fake.answers["session/list"] = function()
    return { sessions = { { sessionId = "default" }, { sessionId = "typescript" } } }
  end
  vim.b.cellgate_root = "/tmp"
  equal(require("cellgate.commands").complete("typ", "Cellgate transfer rows typ"), { "typescript" })
end)
