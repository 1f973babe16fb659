-- StyLua keeps code within 120 columns where it can; what it cannot break are strings.
std = "luajit"
globals = { "vim", "arg" }
-- What tests/runner.lua gives to specs.
read_globals = { "it", "equal", "wait" }
max_line_length = 140
max_comment_line_length = 120
files["tests/runner.lua"] = { globals = { "it", "equal", "wait" } }
