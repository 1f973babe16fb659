-- Specs of `text`: which characters are escaped, colours, carriage returns, and rows of a width.

-- Every character is escaped by `visible` exactly if it is in the sidecar's table of that name.
local function compare(visible, name, least)
  local folder = vim.fn.fnamemodify(debug.getinfo(1, "S").source:sub(2), ":p:h")
  local file = assert(io.open(folder .. "/../../../sidecar/base/escape_unprintable.cpp"))
  local ranges, source = {}, file:read("a")
  file:close()
  local table_of_that_name = source:match("constexpr std::array " .. name .. "(%b{})")
  for first, last in table_of_that_name:gmatch("Range{0x(%x+), 0x(%x+)}") do
    ranges[#ranges + 1] = { tonumber(first, 16), tonumber(last, 16) }
  end
  assert(#ranges >= least, "the sidecar's table was not found")
  local function is_invisible(point)
    for _, range in ipairs(ranges) do
      if point >= range[1] and point <= range[2] then
        return true
      end
    end
    return false
  end
  local function check(point)
    -- A tab becomes blanks, and halves of a pair are no characters.
    if point ~= 9 and (point < 0xd800 or point > 0xdfff) and point <= 0x10ffff then
      local character = vim.fn.nr2char(point, true)
      local shown = point == 0 and visible("\0") or visible(character)
      if (shown ~= character) ~= is_invisible(point) then
        error(("U+%04X is shown as %s"):format(point, shown))
      end
    end
  end
  for point = 0, 0xffff do
    check(point)
  end
  for _, range in ipairs(ranges) do
    for _, point in ipairs({ range[1] - 1, range[1], range[2], range[2] + 1 }) do
      check(math.max(0, point))
    end
  end
  -- The place of a picture, in kitty.
  equal(visible("\244\142\187\174"), "<U+10EEEE>")
end

it("text: what cannot be seen is the same as in the sidecar", function()
  compare(require("cellgate.text").visible, "invisible", 20)
end)

it("text: what a cell prints keeps its blanks and its emoji, and moves nothing", function()
  compare(require("cellgate.text").printable, "unprintable", 12)
  equal(require("cellgate.text").printable("日本　語 ⚠️ a b"), "日本　語 ⚠️ a b")
end)

it("text: what is cut in the middle of a character stays, and what follows a character too", function()
  local visible = require("cellgate.text").visible
  equal(visible("a\226\128"), "a\226\128")
  equal(visible("\194\155\155b"), "<U+009B>\155b")
  equal(visible("漢字かな ✓ é"), "漢字かな ✓ é")
end)

it("text: colours become groups, and nothing else passes", function()
  local text = require("cellgate.text")
  local attributes = {}
  equal(text.spans("a\27[1;31mred\27[0m\27[38;5;200mx\27[39m", attributes), {
    { "a", {} },
    { "red", { "CellgateFg1", "Cellgate_bold" } },
    { "x", { "CellgateFg200" } },
  })
  equal(attributes, {})
  local function plain(line)
    local parts = {}
    for _, span in ipairs(text.spans(line, {})) do
      parts[#parts + 1] = span[1]
    end
    return table.concat(parts)
  end
  equal(plain("\27]0;title\7a\27]52;c;eA==\27\\b\27[2Jc\27[?25ld\27Pq#0\27\\e\27_Ga=T;x\27\\f"), "abcdef")
  equal(plain("a\27"), "a")
  equal(plain("a\27[31"), "a31")
  equal(plain("\8\0\127\1"), "^H^@^?^A")
  equal(plain("user\226\128\174txt.exe\226\129\166"), "user<U+202E>txt.exe<U+2066>")
  equal(plain("\194\155\194\173\239\187\191"), "<U+009B><U+00AD><U+FEFF>")
  equal(plain("ünïcode ✓ 漢字"), "ünïcode ✓ 漢字")
end)

it("text: code cannot make highlight groups without end", function()
  local text = require("cellgate.text")
  local before = vim.tbl_count(vim.api.nvim_get_hl(0, {}))
  for i = 0, 20000 do
    text.spans(("\27[38;2;%d;%d;%dmx"):format(i % 256, math.floor(i / 7) % 256, math.floor(i / 3) % 256), {})
    text.spans(("\27[48;5;%dmx"):format(i), {})
  end
  assert(vim.tbl_count(vim.api.nvim_get_hl(0, {})) - before < 600)
end)

it("text: a carriage return writes over", function()
  local text = require("cellgate.text")
  equal(text.after_returns("10%\r50%\r100%"), "100%")
  equal(text.after_returns("long line\rab"), "abng line")
  equal(text.after_returns("done\r"), "done")
end)

it("text: rows have the width, whatever the characters", function()
  local text = require("cellgate.text")
  for _, line in ipairs({ ("x"):rep(100), ("漢"):rep(50), "a b", "" }) do
    local joined = ""
    for i, row in ipairs(text.wrap(line, 21, "↳ ")) do
      assert(vim.fn.strdisplaywidth(row) <= 21, row)
      joined = joined .. (i == 1 and row or (row:gsub("^↳ ", "")))
    end
    equal(joined, line)
    for _, row in ipairs(text.wrap_spans({ { line, {} }, { "!", {} } }, 21)) do
      local cells = 0
      for _, span in ipairs(row) do
        cells = cells + vim.fn.strdisplaywidth(span[1])
      end
      assert(cells <= 21)
    end
  end
end)
