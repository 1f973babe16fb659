-- StyLua keeps code within 120 columns where it can; what it cannot break are strings.
std = "luajit"
globals = { "vim" }
max_line_length = 140
max_comment_line_length = 120
files["tests/"] = { globals = { "it", "equal", "wait", "arg" } }
