-- Specs of `json_text`: what JSON is, and that its bytes are kept.

it("json: accepts what JSON is, and says where it is not", function()
  local json_text = require("cellgate.json_text")
  for _, good in ipairs({ "{}", ' {"a": [1, -0.5e+7, "x\\u00e9", true, null, {}]}\n', '{"a":{"b":[[]]}}' }) do
    equal({ json_text.is_object(good) }, { true })
  end
  for _, bad in ipairs({
    "",
    "[1]",
    "{",
    '{"a":01}',
    '{"a":NaN}',
    '{"a":1,}',
    '{"a":+1}',
    '{"a":0x10}',
    "{'a':1}",
    '{"a":1} {}',
    '{"a":"\1"}',
    '{"a":"\\x"}',
    '{"a":1.}',
    "{a:1}",
    '{"a":.5}',
    '{"a":nul}',
    '{"a":"}',
  }) do
    equal((json_text.is_object(bad)), false)
  end
  local _, line, problem = json_text.is_object('{\n"a": 1\n"b": 2}')
  equal({ line, problem }, { 3, "expected a comma or }" })
  equal((json_text.is_object(("["):rep(10000))), false)
end)

it("json: bytes that only look like UTF-8 are not taken for it", function()
  local json_text = require("cellgate.json_text")
  for _, good in ipairs({ "", "a", "é漢\240\159\140\178", "\194\128", "\237\159\191", "\244\143\191\191" }) do
    equal(json_text.is_utf8("{" .. good .. "}"), true)
  end
  for _, bad in ipairs({
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
  }) do
    equal(json_text.is_utf8("é" .. bad .. "}"), false)
  end
end)

it("json: pretty changes blanks only, and at() finds the bytes", function()
  local json_text = require("cellgate.json_text")
  local text = '{"big":12345678901234567890,"one":1.0,"none":[],"o":{},"s":"a, b: {}","n":[1,{"x":null}]}'
  local pretty = json_text.pretty(text)
  equal(json_text.pretty(pretty), pretty)
  local function bare(s)
    return (s:gsub('"[^"]*"', function(quoted)
      return (quoted:gsub(" ", "\1"))
    end):gsub("%s", ""))
  end
  equal(bare(pretty), bare(text))
  local body = ('{"params":{"a":[{"action":1}],"action":{"other":{"arguments":2},"arguments":%s}}}'):format(text)
  equal(json_text.at(body, { "params", "action", "arguments" }), text)
  equal(json_text.at(body, { "params", "action", "none" }), nil)
  equal(json_text.at('{"a":{"b":7}}', { "a", "b" }), "7")
end)
