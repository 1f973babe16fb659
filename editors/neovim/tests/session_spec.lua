-- Specs of `session`: executions, their output before and after a reload, and the lines that code reads.
local fixtures = require("fixtures")
local start = require("with_fake")

it("session: a cell is asked for with its place, and its output is shown below it", function()
  local fake = start()
  local here = fake.connect("/tmp")
  local buffer = fixtures.buffer({ "# %%", "1 + 1" })
  vim.api.nvim_set_current_buf(buffer)
  local execution = here:execute({ code = "1 + 1\n", cell = { uri = "untitled:1", line = 1 } })
  require("cellgate.places").put(execution, buffer, 0, 1, 1)
  wait(function()
    return #fake:asked("execute") == 1
  end, "execute")
  local asked = fake:asked("execute")[1]
  equal(asked.params, {
    executionId = execution.id,
    code = "1 + 1\n",
    cell = { uri = "untitled:1", line = 1 },
    changes = true,
  })
  fake:notify("execute/changed", { executionId = execution.id, state = "running" })
  fake:notify("execute/output", {
    executionId = execution.id,
    seq = 0,
    count = 1,
    output = { output_type = "execute_result", data = { ["text/plain"] = "2" }, execution_count = 1, metadata = {} },
  })
  fake:send({
    id = asked.id,
    result = {
      executionId = execution.id,
      status = "ok",
      executionCount = 1,
      durationSeconds = 0.1,
      waitedSeconds = 0,
      layers = {},
      outputBytes = 1,
      truncated = false,
    },
  })
  local namespace = vim.api.nvim_get_namespaces().cellgate
  local function shown()
    local all = ""
    for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(buffer, namespace, 0, -1, { details = true })) do
      for _, row in ipairs(mark[4].virt_lines or { mark[4].virt_text or {} }) do
        for _, chunk in ipairs(row) do
          all = all .. chunk[1]
        end
      end
    end
    return all
  end
  wait(function()
    return shown() == "  [1] ok 0.1 s2"
  end, shown)
end)

it("session: how far a call is belongs to its execution until the call ends", function()
  local fake = start()
  local here = fake.connect("/tmp")
  local execution = here:execute({ code = "1" })
  wait(function()
    return #fake:asked("execute") == 1
  end, "execute")
  local describe = require("cellgate.execution_state").describe
  local function shows(words)
    wait(function()
      return describe(execution) == words
    end, function()
      return words .. ", found " .. describe(execution)
    end)
  end
  local call = { executionId = execution.id, server = "web", tool = "read" }
  fake:notify("execute/changed", { executionId = execution.id, state = "running" })
  shows("running")
  fake:notify("execute/progress", vim.tbl_extend("force", call, { message = "2 of 5" }))
  shows("running, web, read: 2 of 5")
  fake:notify("execute/progress", call)
  shows("running")
end)

it("session: an agent's execution that waits for its turn says behind how many", function()
  local fake = start()
  local here = fake.connect("/tmp")
  fake.answers["execution/get"] = function()
    return { executionId = "x", sessionId = "agent-1", state = "queued", code = "1" }
  end
  local function changed(more)
    fake:notify(
      "execute/changed",
      vim.tbl_extend("force", { executionId = "x", sessionId = "agent-1", agent = "Ada", state = "queued" }, more)
    )
  end
  local describe = require("cellgate.execution_state").describe
  local function shows(words)
    wait(function()
      return here.executions.x and describe(here.executions.x) == words
    end, words)
  end
  changed({ position = 0 })
  shows("Ada: queued")
  changed({ position = 0, waitsBehind = 3 })
  shows("Ada: queued, 3 of other agents before it")
  changed({ state = "running" })
  shows("Ada: running")
end)

it("session: records that come while the journal is read are not doubled and not lost", function()
  local fake = start()
  fake.answers["session/list"] = function()
    return { sessions = { { sessionId = "default" } } }
  end
  fake.answers["session/attach"] = function()
    return {
      session = { sessionId = "default", status = "busy" },
      executions = { { executionId = "x", state = "running", nextSeq = 2 } },
    }
  end
  fake.answers["execution/get"] = function()
    return { executionId = "x", sessionId = "default", state = "running", code = "?" }
  end
  local here = fake.connect("/tmp")
  wait(function()
    return #fake:asked("output/read") == 1
  end, "reading of the journal")
  fake:notify(
    "execute/output",
    vim.tbl_extend("error", { executionId = "x", seq = 2, count = 1 }, fixtures.stream("c\n"))
  )
  local records = {}
  for i, line in ipairs({ "a\n", "b\n", "c\n" }) do
    records[i] = vim.tbl_extend("error", { seq = i - 1, count = 1 }, fixtures.stream(line))
  end
  wait(function()
    return here.executions.x and here.executions.x.next_seq == 3
  end, "the record")
  fake:send({
    id = fake:asked("output/read")[1].id,
    result = { records = records, nextSeq = 3, complete = false, droppedBytes = 0 },
  })
  wait(function()
    return not here.executions.x.held
  end, "the end of reading")
  equal(fixtures.words(here.executions.x.outputs), { "a", "b", "c" })
end)

it("session: of what ended before, only what has a place is read from the journal", function()
  local fake = start()
  fake.answers["session/list"] = function()
    return { sessions = { { sessionId = "default" } } }
  end
  local buffer = fixtures.buffer({ "# %%", "print(1)" })
  vim.api.nvim_buf_set_name(buffer, "/tmp/cellgate-spec.py")
  local cell = { uri = "file:///tmp/cellgate-spec.py", line = 1 }
  fake.answers["session/attach"] = function()
    return {
      session = { sessionId = "default", status = "idle" },
      executions = {
        { executionId = "first", state = "finished", nextSeq = 1, cell = cell },
        { executionId = "elsewhere", state = "finished", nextSeq = 1, cell = { uri = "file:///tmp/x.py", line = 0 } },
        { executionId = "again", state = "finished", nextSeq = 1, cell = cell },
      },
    }
  end
  fake.answers["execution/get"] = function(params)
    return { executionId = params.executionId, sessionId = "default", state = "finished", code = "print(1)\n" }
  end
  fake.answers["output/read"] = function()
    return {
      records = { vim.tbl_extend("error", { seq = 0, count = 1 }, fixtures.stream("1\n")) },
      nextSeq = 1,
      complete = true,
    }
  end
  local here = fake.connect("/tmp")
  wait(function()
    return here.executions.again and #fixtures.words(here.executions.again.outputs) == 1
  end, "the output")
  equal(
    vim.tbl_map(function(message)
      return message.params.executionId
    end, fake:asked("output/read")),
    { "again" }
  )
end)

it("input: the code's question waits until the user answers it, and once", function()
  local fake = start()
  local here = fake.connect("/tmp")
  local execution = here:execute({ code = "input()" })
  fake:send({
    id = "i",
    method = "input/request",
    params = { executionId = execution.id, prompt = "?", password = false },
  })
  wait(function()
    return execution.input
  end, "the question")
  vim.ui.input = function(_, done)
    done("typed")
  end
  equal(require("cellgate.input").answer(nil, false), nil)
  wait(function()
    return #fake.spy.responses == 1
  end, "the answer")
  equal(fake.spy.responses[1].result, { value = "typed" })
  equal(require("cellgate.input").answer(nil, false), "no code reads a line")
end)

it("session: of many executions the oldest finished ones are forgotten, and none that still runs", function()
  local fake = start()
  local here = fake.connect("/tmp")
  here:remember("runs", "default", { state = "running" })
  for i = 1, 1001 do
    here:remember("done-" .. i, "default", { state = "finished" })
  end
  equal({ #here.order, here.order[1], here.order[2] }, { 1000, "runs", "done-3" })
  equal({ here.executions["done-2"], here.executions["runs"].state }, { nil, "running" })
end)
