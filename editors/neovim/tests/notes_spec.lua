-- Specs of `notes`: what a note of the sandbox offers, and the command that does it.
local start = require("with_fake")

it("notes: the command does what the note of its number offers, and nothing else does", function()
  local fake = start()
  fake.connect("/tmp")
  local notes = require("cellgate.notes")
  local rule = { effect = "allow", kind = "network", host = "a.example:443" }
  local refused = { text = "a.example:443 was refused", remedy = "add a rule for it", rule = rule }
  local hidden = {
    text = "/data is not shown",
    remedy = "allow reading /data: restarts the kernel",
    sandbox = { allowRead = { "/data" } },
  }
  local advice = { text = "/etc/x cannot be made", remedy = "make it outside of the sandbox" }
  local function with(...)
    return { root = "/tmp", session = "R", result = { notes = { ... } } }
  end
  local all = with(refused, hidden, advice)
  equal(notes.lines(all), {
    "a.example:443 was refused: add a rule for it; :Cellgate remedy 1 does it",
    "/data is not shown: allow reading /data: restarts the kernel; :Cellgate remedy 2 does it",
    "/etc/x cannot be made: make it outside of the sandbox",
  })
  equal(notes.lines(with(hidden)), {
    "/data is not shown: allow reading /data: restarts the kernel; :Cellgate remedy does it",
  })
  equal(notes.remedy(all), "this cell has 3 notes: :Cellgate remedy 1")
  equal(notes.remedy(all, 4), "this cell has no such note")
  equal(notes.remedy(all, 3), "no command does that: make it outside of the sandbox")
  equal(notes.remedy({ root = "/tmp", session = "R" }), "this cell has no such note")
  equal({ fake:asked("policy/add"), fake:asked("session/restart") }, { {}, {} })
  equal(notes.remedy(all, 1), nil)
  equal(fake:asked("policy/add")[1].params, { rule = rule, scope = "session", sessionId = "R" })
  equal(notes.remedy(with(hidden)), nil)
  equal(fake:asked("session/restart")[1].params, { sessionId = "R", sandbox = { allowRead = { "/data" } } })
  local missing = { text = "there is no module six", remedy = "cellgate install six", install = { "six" } }
  equal(notes.lines(with(missing)), { "there is no module six: cellgate install six; :Cellgate remedy does it" })
  equal(notes.remedy(with(missing)), nil)
  local asked = fake:asked("packages/install")[1].params
  equal({ asked.packages, asked.sessionId }, { { "six" }, "R" })
end)

it("notes: wrappers that are not there are written for the server whose package they are, or that is chosen", function()
  local fake = start()
  fake.connect("/tmp")
  local notes = require("cellgate.notes")
  fake.answers["toolServers/list"] = function()
    return { servers = { { name = "notes" }, { name = "my-fs" }, { name = "a.b" }, { name = "a-b" } } }
  end
  fake.answers["wrappers/generate"] = function(params)
    return { package = "mcptools." .. params.server, modules = {}, skipped = {} }
  end
  local choice, offered
  vim.ui.select = function(servers, options, done)
    offered = vim.tbl_map(options.format_item, servers)
    done(servers[choice])
  end
  -- The servers that the user chooses from, and those whose wrappers are asked for.
  local function missing(package)
    offered, fake.spy.requests = nil, {}
    local note = { text = "there are no wrappers " .. package, remedy = "cellgate generate NAME", wrappers = package }
    equal(notes.remedy({ root = "/tmp", session = "R", result = { notes = { note } } }), nil)
    local function written()
      return vim.tbl_map(function(request)
        return request.params.server .. " " .. request.params.language
      end, fake:asked("wrappers/generate"))
    end
    vim.wait(60000, function()
      return written()[1] or offered and not choice
    end, 1)
    return { offered, written() }
  end
  vim.bo.filetype = "typescript" -- a cell of it may be Python's
  equal(missing("mcptools.my_fs"), { nil, { "my-fs python" } })
  equal(missing("mcptools"), { { "notes", "my-fs", "a.b", "a-b" }, {} })
  choice = 2
  equal(missing("mcptools"), { { "notes", "my-fs", "a.b", "a-b" }, { "my-fs python" } })
  equal(missing("mcptools.a_b"), { { "a.b", "a-b" }, { "a-b python" } })
  vim.bo.filetype = ""
end)
