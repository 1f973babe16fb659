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
