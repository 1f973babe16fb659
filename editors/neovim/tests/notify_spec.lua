-- Specs of `notify`.

it("notify: one row, whatever the words and the screen", function()
  local notify = require("cellgate.notify")
  local shown
  vim.notify = function(words)
    shown = words
  end
  for _, columns in ipairs({ 20, 40, 60, 80 }) do
    for _, laststatus in ipairs({ 1, 2 }) do
      vim.o.columns, vim.o.laststatus = columns, laststatus
      for _, words in ipairs({ "short", ("word "):rep(60), ("漢"):rep(200), ("a\n"):rep(90) }) do
        notify.show(words)
        local width = vim.fn.strdisplaywidth(shown)
        assert(width <= math.max(1, vim.v.echospace), ("%d cells of %d: %s"):format(width, vim.v.echospace, shown))
      end
    end
  end
  notify.show("short")
  vim.notify = function() end
  equal(shown, "cellgate: short")
  vim.o.columns, vim.o.laststatus = 100, 2
end)
