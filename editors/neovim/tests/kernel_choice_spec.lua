-- Specs of `:Cellgate kernel`: what is offered, and what the next session is created with.
local fixtures = require("fixtures")

-- Answers each menu by the row whose words contain the next of `picks`, each prompt by the next of `typed`.
local function start(picks, typed)
  local fake = require("with_fake")()
  local buffer = fixtures.buffer({ "# %%", "x" })
  vim.b[buffer].cellgate_root = nil
  vim.api.nvim_set_current_buf(buffer)
  vim.o.columns = 300
  fake.shown, fake.offered = {}, {}
  vim.notify = function(words)
    fake.shown[#fake.shown + 1] = words
  end
  vim.ui.select = function(items, options, done)
    local words = vim.tbl_map(options.format_item or tostring, items)
    fake.offered[#fake.offered + 1] = words
    local pick = table.remove(picks, 1)
    for i, each in ipairs(words) do
      if each:find(pick, 1, true) then
        return done(items[i], i)
      end
    end
    error(pick .. " in " .. vim.inspect(words))
  end
  vim.ui.input = function(options, done)
    fake.default = options.default
    done(table.remove(typed, 1))
  end
  fake.answers["kernel/list"] = function(params)
    if params.server then
      return {
        kernels = {
          { name = "ir", displayName = "R", language = "R", source = "server" },
          { name = "py", displayName = "Python far", language = "python", source = "server" },
        },
      }
    end
    return {
      kernels = {
        { name = "python3", displayName = "Python", language = "python", source = "kernelspec" },
        {
          name = "old",
          displayName = "Old (/o/python)",
          language = "python",
          source = "interpreter",
          interpreter = "/o/python",
        },
        { name = "ir", displayName = "R", language = "R", source = "kernelspec" },
      },
    }
  end
  fake.answers["session/create"] = function(params)
    return { sessionId = params.sessionId }
  end
  return fake
end

local function command(...)
  require("cellgate.commands").run({ fargs = { ... }, range = 0 })
end

local function wait_shown(fake, words)
  wait(function()
    return table.concat(fake.shown, "\n"):find(words, 1, true)
  end, function()
    return words .. " in " .. vim.inspect(fake.shown)
  end)
end

-- The kernel that the next session is created with.
local function kernel_of_next(fake)
  local before = #fake:asked("session/create")
  command("run")
  wait(function()
    return #fake:asked("session/create") == before + 1
  end, "session/create")
  return fake:asked("session/create")[before + 1].params.kernel
end

it("kernel: those of the language are offered, and the settings' one again", function()
  local fake = start({ "Old", "that of the settings" }, {})
  command("kernel")
  wait_shown(fake, "the next cell has Old (/o/python)")
  equal(kernel_of_next(fake), { interpreter = "/o/python" })
  equal(fake.offered[1], {
    "that of the settings, else the first of these",
    "Python, python3",
    "Old (/o/python)",
    "a kernel that already runs, without a sandbox",
    "a kernel on a Jupyter server, without a sandbox",
  })
  command("kernel")
  wait_shown(fake, "the next cell has that of the settings")
  command("run")
  wait(function()
    return #fake:asked("execute") == 2
  end, "the cell")
  equal(#fake:asked("session/create"), 1) -- the default one starts by itself
end)

it("kernel: one that already runs, and one of a Jupyter server, whose address is offered again", function()
  local fake = start(
    { "already runs", "Jupyter server", "Python far", "Jupyter server", "Python far" },
    { "kernel-1.json", "https://hub.example.org/user/me", "https://hub.example.org/user/me" }
  )
  command("kernel")
  wait_shown(fake, "has the running kernel kernel-1.json, unsandboxed")
  equal(kernel_of_next(fake), { connectionFile = "kernel-1.json" })
  command("kernel")
  wait_shown(fake, "has Python far, py on hub.example.org, unsandboxed")
  equal(fake.offered[3], { "Python far, py on hub.example.org" })
  equal(kernel_of_next(fake), { server = { url = "https://hub.example.org/user/me", name = "py" } })
  command("kernel")
  wait(function()
    return fake.default == "https://hub.example.org/user/me"
  end, "the same address")
end)

it("kernel: one that runs goes on in its kernel, unless it is to end", function()
  local fake = start({ "Old", "leave it", "Old", "end the kernel" }, {})
  local here = fake.connect(require("cellgate.workspace").root(0))
  here.kernels.default = "idle"
  fake.answers["session/close"] = function() end
  command("kernel")
  wait(function()
    return #fake.offered == 2
  end, "the question")
  equal(require("cellgate.workspace").kernel(here.root, "python"), nil)
  command("kernel")
  wait_shown(fake, "the kernel was ended; the next cell starts the new one")
  equal(#fake:asked("session/close"), 1)
  equal(kernel_of_next(fake), { interpreter = "/o/python" })
end)
