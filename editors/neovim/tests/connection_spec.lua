-- Specs of `connection`: its start, its end, and its next start.
local start = require("with_fake")

-- What the log got while `act` ran.
local function logged(act)
  local lines = {}
  local log = require("cellgate.log")
  local write = log.write
  log.write = function(level, words)
    lines[#lines + 1] = level .. " " .. words
  end
  act()
  log.write = write
  return table.concat(lines, "\n")
end

local function told()
  local lines = {}
  vim.notify = function(words)
    lines[#lines + 1] = words
  end
  return lines
end

local no_hint = "the workspace is the home folder"
local refusal = { code = 1021, message = no_hint, data = { kind = "configInvalid", hint = "Open a folder below it." } }
local in_full = no_hint .. ". Open a folder below it."

it("connection: what is to run right after stop runs in the next one, and nothing of the first touches it", function()
  local fake = start()
  fake.answers.shutdown = function() end
  fake.answers.execute = function(params)
    return { executionId = params.executionId, status = "ok", durationSeconds = 0, waitedSeconds = 0 }
  end
  local here = fake.connect("/tmp")
  local session = require("cellgate.session")
  local executions = {}
  local problems = logged(function()
    for i = 1, 3 do
      here.connection:stop(function() end)
      executions[i] = session.of("/tmp"):execute({ code = "1\n" })
      wait(function()
        return executions[i].state == "finished" or executions[i].problem
      end, "the end of the execution")
    end
  end)
  equal(problems, "")
  for _, execution in ipairs(executions) do
    equal({ execution.state, execution.problem, execution.result.status }, { "finished", nil, "ok" })
  end
  equal({ fake.connections, fake.max_open }, { 4, 1 })
  equal(here.connection.state, "ready")
  here.connection:stop()
  wait(function()
    return here.connection.state == "stopped"
  end, "the end of the last one")
end)

it("connection: what is asked of a stopped one is refused, and does not happen later", function()
  local fake = start()
  fake.answers.shutdown = function() end
  local here = fake.connect("/tmp")
  here.connection:stop()
  local problems = {}
  local function ask()
    here:request("policy/remove", { ruleId = "r" }, function(problem)
      table.insert(problems, problem.message)
    end)
  end
  -- While it stops, and afterwards.
  ask()
  wait(function()
    return here.connection.state == "stopped"
  end, "the end")
  ask()
  equal(problems, {
    "this workspace is not connected: :Cellgate attach",
    "this workspace is not connected: :Cellgate attach",
  })
  fake.connect("/tmp")
  equal(fake:asked("policy/remove"), {})
  -- The control: of one that is connected it is asked.
  ask()
  equal(#fake:asked("policy/remove"), 1)
end)

it("connection: one that ends while all is attached again leaves no error behind", function()
  local fake = start()
  fake.answers["session/list"] = function()
    return { sessions = { { sessionId = "default" }, { sessionId = "R" } } }
  end
  local connection = require("cellgate.connection")
  connection.restart_delay = function()
    return 0
  end
  local here = require("cellgate.session").of("/tmp")
  wait(function()
    return #fake:asked("session/attach") == 1
  end, "the question for the first session")
  fake.answers["session/list"] = nil
  local problems = logged(function()
    fake.peer:close("it crashed")
    wait(function()
      return here.connection.state == "ready"
    end, "the next connection")
  end)
  equal(problems, "warning /tmp: it crashed")
end)

-- The rows below the cell of the current buffer.
local function rows_below()
  local rows = {}
  local namespace = vim.api.nvim_get_namespaces().cellgate
  for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(0, namespace, 0, -1, { details = true })) do
    for _, row in ipairs(mark[4].virt_lines or {}) do
      for _, chunk in ipairs(row) do
        rows[#rows + 1] = chunk[1]
      end
    end
  end
  return table.concat(rows)
end

-- Runs a cell where the sidecar refuses to start.
---@return cellgate.Session here
---@return string log
local function run_refused(fake, ending)
  require("cellgate.connection").restart_delay = function()
    return 0
  end
  fake.errors.initialize = refusal
  fake.after = ending
  vim.api.nvim_buf_set_lines(0, 0, -1, false, { "# %%", "1 + 1" })
  vim.bo.filetype = "python"
  local here
  local log = logged(function()
    require("cellgate.run").cell()
    here = select(2, next(require("cellgate.session").all))
    wait(function()
      return here.connection.state == "stopped"
    end, function()
      return "the end; it is " .. here.connection.state
    end)
  end)
  return here, log
end

for what, ending in pairs({
  ["goes on"] = function() end,
  ["ends at once"] = function(peer)
    peer:close("cellgate ended with code 1")
  end,
}) do
  it("connection: a sidecar that cannot start says why, once, where its connect " .. what, function()
    local fake = start()
    local messages = told()
    local here, log = run_refused(fake, ending)
    local execution = here.executions[here.order[1]]
    equal({ execution.state, execution.problem }, { "finished", in_full })
    equal(#messages, 1)
    assert(vim.startswith(messages[1], "cellgate: the workspace is the home"), messages[1])
    assert(log:find(in_full, 1, true), log)
    -- At the cell, all of it.
    vim.cmd("vsplit | vertical resize 40")
    wait(function()
      return rows_below() == "did not finish: " .. in_full
    end, rows_below)
    vim.cmd.close()
    -- Not again by itself, also not by what a window left open asks.
    here:request("policy/list", {}, function(problem)
      equal(problem.message, in_full)
    end)
    vim.wait(50)
    equal({ fake.connections, #messages }, { 1, 1 })
    vim.notify = function() end
  end)
end

it("connection: asked to attach, it shows why the sidecar cannot start, and connects once that is corrected", function()
  local fake = start()
  told()
  local here = run_refused(fake, function() end)
  vim.cmd.runtime("plugin/cellgate.lua")
  require("cellgate.commands").run({ fargs = { "attach" } })
  wait(function()
    return #vim.api.nvim_list_wins() == 2
  end, "the window")
  local window = vim.api.nvim_list_wins()[2]
  equal(table.concat(vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(window), 0, -1, false)), in_full)
  vim.api.nvim_win_close(window, true)
  fake.errors.initialize, fake.after = nil, nil
  fake.connect(here.root)
  equal(here.connection.failure, nil)
  vim.notify = function() end
end)

it("connection: it restarts a connection that ends, later each time, and gives up", function()
  start()
  local connection = require("cellgate.connection")
  equal(vim.tbl_map(connection.restart_delay, { 1, 2, 3, 4 }), { 100, 1000, 2000, 4000 })
  connection.restart_delay = function()
    return 0
  end
  local starts = 0
  local connect = connection.connect
  connection.connect = function(...)
    starts = starts + 1
    local peer = connect(...)
    vim.schedule(function()
      peer:close("it crashed")
    end)
    return peer
  end
  local here = require("cellgate.session").of("/tmp")
  wait(function()
    return here.connection.state == "stopped"
  end, function()
    return "the end after " .. starts .. " starts; it is " .. here.connection.state
  end)
  equal(starts, 6)
end)
