-- Specs of `rpc`: messages, requests and their answers, a program that does not start.

local function frame(body)
  return ("Content-Length: %d\r\n\r\n%s"):format(#body, body)
end

it("rpc: messages are the same wherever their bytes are cut", function()
  local rpc = require("cellgate.rpc")
  local bodies = {
    '{"jsonrpc":"2.0","method":"a","params":{"text":"one\\r\\n\\r\\n"}}',
    '{"jsonrpc":"2.0","method":"b","params":{"text":"ünï"}}',
    '{"jsonrpc":"2.0","method":"c"}',
  }
  local bytes = table.concat(vim.tbl_map(frame, bodies))
  for cut = 1, #bytes - 1 do
    local heard = {}
    local peer = rpc.new(function() end, {
      notified = function(method, params)
        heard[#heard + 1] = method .. (params.text or "")
      end,
    })
    peer:feed(bytes:sub(1, cut))
    peer:feed(bytes:sub(cut + 1))
    wait(function()
      return #heard == 3
    end, "three messages, cut at " .. cut)
    equal(heard, { "aone\r\n\r\n", "bünï", "c" })
  end
end)

it("rpc: a request is answered once, also when the other side goes", function()
  local rpc = require("cellgate.rpc")
  local sent, answers, closed = {}, {}, {}
  local peer = rpc.new(function(bytes)
    sent[#sent + 1] = bytes
  end, {
    closed = function(reason)
      closed[#closed + 1] = reason
    end,
  })
  for i = 1, 3 do
    peer:request("ask", { i = i }, function(problem, result)
      answers[i] = (answers[i] or "") .. (problem and problem.message or result.is)
    end)
  end
  peer:feed(frame('{"jsonrpc":"2.0","id":2,"result":{"is":"two"}}'))
  peer:feed(frame('{"jsonrpc":"2.0","id":2,"result":{"is":"again"}}'))
  peer:close("gone")
  peer:close("gone again")
  wait(function()
    return #closed > 0 and answers[1] and answers[3]
  end, "the answers")
  equal(answers, { "gone", "two", "gone" })
  equal(closed, { "gone" })
  peer:request("late", {}, function(problem)
    answers[4] = problem.message
  end)
  wait(function()
    return answers[4]
  end, "the answer to a late request")
end)

it("rpc: empty params are an object, and what is no message ends the conversation", function()
  local rpc = require("cellgate.rpc")
  local sent, reason
  local peer = rpc.new(function(bytes)
    sent = bytes
  end, {
    closed = function(why)
      reason = why
    end,
  })
  peer:request("ask", {})
  assert(sent:find('"params":{}', 1, true), sent)
  peer:feed("Content-Length: 99999999999999\r\n\r\n")
  wait(function()
    return reason
  end, "the end")
end)

it("rpc: a program that does not start is a problem, not an error", function()
  local peer, problem = require("cellgate.rpc").spawn({ "/does/not/exist" }, "/", {})
  equal(peer, nil)
  assert(problem:find("does not start", 1, true), problem)
end)

it("rpc: bytes that only look like UTF-8 are not sent", function()
  local rpc = require("cellgate.rpc")
  local sent, problems = {}, {}
  local peer = rpc.new(function(bytes)
    sent[#sent + 1] = bytes
  end, {})
  local good = { "", "a", "é漢\240\159\140\178", "\194\128", "\237\159\191", "\244\143\191\191" }
  for _, text in ipairs(good) do
    peer:request("ask", { text = text })
  end
  equal(#sent, #good)
  local bad = {
    "\255",
    "\128",
    "\195",
    "\195(",
    "\192\175", -- a slash, overlong
    "\224\159\191",
    "\240\143\191\191",
    "\237\160\128", -- half of a pair of UTF-16
    "\244\144\128\128",
    "\248\136\128\128\128",
  }
  for i, text in ipairs(bad) do
    peer:request("ask", { text = "é" .. text .. "}" }, function(problem)
      problems[i] = problem.message
    end)
  end
  wait(function()
    return #problems == #bad
  end, "the problems")
  equal(#sent, #good)
  assert(problems[1]:find("not UTF-8", 1, true), problems[1])
end)
