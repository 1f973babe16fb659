-- What makes text fit to be shown.

-- Every character is written out by `visible` exactly if it is in the sidecar's table of that name.
local function compare(visible, name, least)
  local folder = vim.fn.fnamemodify(debug.getinfo(1, "S").source:sub(2), ":p:h")
  local file = assert(io.open(folder .. "/../../../sidecar/base/visible_text.cpp"))
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

it("notice: one row, whatever the words and the screen", function()
  local notice = require("cellgate.notice")
  local told
  vim.notify = function(words)
    told = words
  end
  for _, columns in ipairs({ 20, 40, 60, 80 }) do
    for _, laststatus in ipairs({ 1, 2 }) do
      vim.o.columns, vim.o.laststatus = columns, laststatus
      for _, words in ipairs({ "short", ("word "):rep(60), ("漢"):rep(200), ("a\n"):rep(90) }) do
        notice.tell(words)
        local width = vim.fn.strdisplaywidth(told)
        assert(width <= math.max(1, vim.v.echospace), ("%d cells of %d: %s"):format(width, vim.v.echospace, told))
      end
    end
  end
  notice.tell("short")
  vim.notify = function() end
  equal(told, "cellgate: short")
  vim.o.columns, vim.o.laststatus = 100, 2
end)
