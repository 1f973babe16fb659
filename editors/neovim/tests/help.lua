-- `help` writes doc/cellgate.txt, and the settings in docs/neovim.md, from the plugin's own tables, by
-- `nvim -l tests/help.lua`. A spec compares them, so that none changes alone.
local M = {}

local function wrap(text, indent)
  local lines, line = {}, indent
  for word in text:gmatch("%S+") do
    if #line + #word + 1 > 78 and line ~= indent then
      lines[#lines + 1] = line
      line = indent
    end
    line = line .. (line == indent and "" or " ") .. word
  end
  lines[#lines + 1] = line
  return table.concat(lines, "\n")
end

local function heading(title, tag)
  return ("="):rep(78) .. "\n" .. title .. (" "):rep(math.max(1, 78 - #title - #tag - 2)) .. "*" .. tag .. "*\n\n"
end

local function helptext(text)
  -- In help files code is between bars of `>` and `<`; backticks are highlighted as they are.
  return (text:gsub("%s+", " "))
end

local function type_words(setting)
  local types = type(setting.type) == "table" and setting.type or { setting.type }
  return table.concat(
    vim.tbl_filter(function(name)
      return name ~= "nil"
    end, types),
    " or "
  )
end

local sections = {
  function()
    return "*cellgate.txt*  cells in a sandboxed kernel; nothing leaves it before you said yes\n\n"
      .. heading("Contents", "cellgate")
      .. table.concat({
        "    What it does ............................ |cellgate-intro|",
        "    Installing .............................. |cellgate-install|",
        "    Cells ................................... |cellgate-cells|",
        "    Approvals ............................... |cellgate-approvals|",
        "    Tool servers that ask ................... |cellgate-questions|",
        "    Commands ................................ |cellgate-commands|",
        "    Keys .................................... |cellgate-keys|",
        "    Settings ................................ |cellgate-config|",
        "    Statusline and events ................... |cellgate-events|",
        "    When something is wrong ................. |cellgate-problems|",
      }, "\n")
      .. "\n\n"
  end,
  function()
    return heading("What it does", "cellgate-intro")
      .. wrap(
        "cellgate runs the cells of a file in a Jupyter kernel inside a sandbox, and shows their output below the code."
          .. " When code wants something from outside of the sandbox (a tool of an MCP server, a file, a host of the network),"
          .. " it waits until a rule or you have said yes to exactly that.",
        ""
      )
      .. "\n\n"
      .. wrap(
        "The kernel lives in a process of its own, the workspace's sidecar. It goes on when Neovim ends, and when you"
          .. " come back you find output, variables and open questions.",
        ""
      )
      .. "\n\n"
  end,
  function()
    return heading("Installing", "cellgate-install")
      .. wrap("Neovim 0.10 or newer. The plugin is the folder `editors/neovim` of cellgate's repository:", "")
      .. "\n>lua\n"
      .. '    -- lazy.nvim\n    { dir = "~/src/cellgate/editors/neovim", opts = { keys = true } }\n'
      .. '    -- packer\n    use { "~/src/cellgate/editors/neovim" }\n'
      .. "<\n"
      .. wrap("Without a plugin manager: a link in a folder of packages,", "")
      .. "\n>sh\n"
      .. "    mkdir -p ~/.local/share/nvim/site/pack/cellgate/start\n"
      .. "    ln -s ~/src/cellgate/editors/neovim \\\n"
      .. "        ~/.local/share/nvim/site/pack/cellgate/start/cellgate\n"
      .. "<\n"
      .. wrap("or `vim.pack` of Neovim 0.12, which makes a copy of the repository:", "")
      .. "\n>lua\n"
      .. '    vim.pack.add({ { src = "file:///home/ada/src/cellgate", name = "cellgate" } }, {\n'
      .. "      load = function(plugin)\n"
      .. '        vim.opt.rtp:append(plugin.path .. "/editors/neovim")\n'
      .. "      end,\n"
      .. "    })\n"
      .. "<\n"
      .. wrap(
        "and `:helptags ALL`, once, for this help. Whatever else puts the folder on 'runtimepath'"
          .. " will do as well."
          .. " Calling `require('cellgate').setup{}` is optional. The program `cellgate` is found on PATH or in the repository's"
          .. " `build` folder (`./dev build` makes it). `:checkhealth cellgate` says what is missing.",
        ""
      )
      .. "\n\n"
  end,
  function()
    return heading("Cells", "cellgate-cells")
      .. wrap(
        "A cell begins at a line that holds a comment and `%%`, such as `# %%` or `// %%`. A marker may name another"
          .. " language: `# %% [bash]`. In markdown files fenced blocks"
          .. " that name a language are cells. Cells marked `[markdown]` are not run. Python runs in the workspace's default"
          .. " session; each other language has one of its own, with the first kernel that speaks it.",
        ""
      )
      .. "\n\n"
      .. wrap(
        "At the end of the cell's first line are its state, the kernel's count and the time without waiting for you; below it the"
          .. " last lines of its output, live, and how many there are before them. `:Cellgate output` reads all of it from"
          .. " the journal. Pictures are shown where the terminal, image.nvim or snacks.nvim can, else the path of their"
          .. " file. Html is opened only on command, and then without scripts and network. 'omnifunc' completes from the live kernel.",
        ""
      )
      .. "\n\n"
      .. wrap(
        "When the sandbox refused something to a cell, a note below it says what was refused and what would allow it."
          .. " `:Cellgate remedy` does that: it adds a rule for the session, or restarts the kernel with the file or"
          .. " folder in its sandbox. `:Cellgate rules` takes a rule back. When a module is missing, it installs the package,"
          .. " after you have agreed to the command. Where Python has `No module named 'mcptools'`, it writes the wrappers of a"
          .. " tool server, which you choose if the code does not name it.",
        ""
      )
      .. "\n\n"
      .. wrap(
        "When code reads a line with `input()`, the question is shown at the cell until you answer it by `:Cellgate input`:"
          .. " nothing takes your cursor while you type elsewhere.",
        ""
      )
      .. "\n\n"
  end,
  function()
    local lines = vim.tbl_map(function(line)
      return "    " .. line
    end, require("cellgate.approval_reader_text").help)
    return heading("Approvals", "cellgate-approvals")
      .. wrap(
        "What waits for an answer is shown in a small window in a corner where the cursor is not, at the line of code"
          .. " that asks, and in the statusline. None of these has keys: whatever you type goes where your cursor is."
          .. " `:Cellgate approvals` enters the window whose keys answer:",
        ""
      )
      .. "\n>\n"
      .. table.concat(lines, "\n")
      .. "\n<\n"
      .. wrap(
        "Several approvals of one cell and tool that offer the same choices are read together and answered together. One that"
          .. " differs has other choices, and comes first, by itself. Where the choices would take too much of a small"
          .. " screen, they follow the text. Nothing is allowed before the end of both was on the screen.",
        ""
      )
      .. "\n\n"
      .. wrap(
        "In the buffer of `e` only a `:w` that is typed there, without a name or lines, answers; a plugin that saves files"
          .. " does not, nor does a copy. Characters that cannot be seen are escaped there as JSON does it, such as"
          .. " `\\u202e`.",
        ""
      )
      .. "\n\n"
      .. wrap(
        "`:Cellgate allow {tag}` answers without entering: for an approval that was shown to its end, and not"
          .. " within half a second after something came or went. It allows this call. `:Cellgate allow {tag} {number}` is for"
          .. " a wider choice, which `:Cellgate approvals` has to have shown before.",
        ""
      )
      .. "\n\n"
  end,
  function()
    local window = require("cellgate.elicitation_window")
    local function keys(help)
      local lines = vim.tbl_map(function(line)
        return "    " .. line
      end, help)
      return "\n>\n" .. table.concat(lines, "\n") .. "\n<\n"
    end
    return heading("Tool servers that ask", "cellgate-questions")
      .. wrap(
        "While one of its tools runs, a tool server may ask you something. The question is shown where approvals are, and"
          .. " `:Cellgate answer` opens it, in a buffer of the filetype `cellgate-form`. Lines that begin with `#>` are the"
          .. " server's words, which are not to be believed; all other comments are cellgate's. A form is text that you"
          .. " edit:",
        ""
      )
      .. "\n>\n"
      .. "    #> How many?\n"
      .. "    # a whole number, 1 to 8; needed\n"
      .. "    people: 4\n"
      .. "\n"
      .. "    #> Room\n"
      .. "    # one of these\n"
      .. "    room:\n"
      .. "      (x) The garden\n"
      .. "      ( ) The hall\n"
      .. "<\n"
      .. wrap("Text goes on in indented lines. What is left empty is not sent.", "")
      .. keys(window.form_help)
      .. wrap(
        "Only a `:w` that is typed there, without a name or lines, sends the form, once it was shown to its end. What does"
          .. " not fit is marked at its field, and nothing was answered.",
        ""
      )
      .. "\n\n"
      .. wrap("Of a page, the host is shown by itself. What you type in the browser cellgate never sees:", "")
      .. keys(window.page_help)
      .. wrap("A question without fields is answered by a yes or a no:", "")
      .. keys(window.yes_help)
      .. wrap(
        "A tool server at a URL may want you to log in: `:Cellgate servers` shows which, and `:Cellgate login` does it. You"
          .. " see the host of the page before you choose whether to open it in the browser, to copy its URL, or to cancel."
          .. " The login waits for ten minutes; `:Cellgate login` offers the same again. How it ended is a message.",
        ""
      )
      .. "\n\n"
  end,
  function()
    local out = { heading("Commands", "cellgate-commands") }
    for name, command in vim.spairs(require("cellgate.commands").all) do
      local tag = ("*:Cellgate-%s*"):format(name)
      local usage = (":Cellgate %s%s"):format(name, command.arguments and " " .. command.arguments or "")
      out[#out + 1] = usage .. (" "):rep(math.max(1, 78 - #usage - #tag)) .. tag .. "\n"
      out[#out + 1] = wrap(helptext(command.does), "    ") .. "\n\n"
    end
    return table.concat(out)
  end,
  function()
    local out = { heading("Keys", "cellgate-keys") }
    out[#out + 1] = wrap(
      "The suggested keys are set in buffers with cells when the setting `keys` is true. All others are for your own maps.",
      ""
    ) .. "\n\n"
    for _, plug in ipairs(require("cellgate.keys").plugs) do
      out[#out + 1] = ("%-28s %-8s %-32s\n    %s\n")
        :format(require("cellgate.keys").plug_name(plug), table.concat(plug.modes, " "), plug.key, plug.does)
        :gsub(" +\n", "\n")
    end
    out[#out + 1] = "\n"
      .. wrap("In insert and terminal mode no key is suggested. To reach approvals from there:", "")
      .. "\n>lua\n"
      .. '    vim.keymap.set({ "n", "i", "t" }, "<M-g>", "<Plug>(cellgate-approvals)")\n'
      .. "<\n"
    return table.concat(out)
  end,
  function()
    local out = { heading("Settings", "cellgate-config") }
    out[#out + 1] = ">lua\n    require('cellgate').setup({\n      keys = true,\n      mcp_servers = {\n"
      .. '        filesystem = {\n          command = "npx",\n'
      .. '          args = { "-y", "@modelcontextprotocol/server-filesystem", "${workspaceFolder}" },\n'
      .. "        },\n      },\n    })\n<\n"
    for _, setting in ipairs(require("cellgate.config").settings) do
      local tag = ("*cellgate-config-%s*"):format(setting.name)
      local default = setting.default == nil and "none" or vim.inspect(setting.default)
      local head = ("%s  (%s, default %s)"):format(setting.name, type_words(setting), default)
      out[#out + 1] = head .. (" "):rep(math.max(1, 78 - #head - #tag)) .. tag .. "\n"
      out[#out + 1] = wrap(helptext(setting.doc), "    ") .. "\n\n"
    end
    return table.concat(out)
  end,
  function()
    local out = { heading("Statusline and events", "cellgate-events") }
    out[#out + 1] = ">lua\n    vim.o.statusline = vim.o.statusline .. \"%{v:lua.require'cellgate'.statusline()}\"\n<\n"
    out[#out + 1] = wrap(
      "`require('cellgate').waiting()` is the number of approvals, and of questions of tool servers, that wait. |User|"
        .. " autocommands, with what `data` holds:",
      ""
    ) .. "\n\n"
    for name, what in vim.spairs(require("cellgate.events").names) do
      out[#out + 1] = ("%-22s %s\n"):format(name, what)
    end
    return table.concat(out) .. "\n"
  end,
  function()
    return heading("When something is wrong", "cellgate-problems")
      .. wrap(
        "`:checkhealth cellgate` looks at Neovim, the program and the machine. `:Cellgate log` opens the plugin's log, and"
          .. " `cellgate status` in a shell names the sidecar's. When the sidecar ends by itself, the plugin connects again,"
          .. " later each time, five times in three minutes; after that `:Cellgate attach` does. A sidecar that cannot start"
          .. " says why, at the cell that was to run as well, and is not started again by itself.",
        ""
      )
      .. "\n\n vim:tw=78:ts=8:noet:ft=help:norl:\n"
  end,
}

--- The whole help file.
---@return string
function M.text()
  local out = {}
  for _, section in ipairs(sections) do
    out[#out + 1] = section()
  end
  return table.concat(out)
end

--- The table of settings of docs/neovim.md.
---@return string
function M.settings_table()
  local out = { "| setting | default | what it does |", "|---|---|---|" }
  for _, setting in ipairs(require("cellgate.config").settings) do
    local default = setting.default == nil and "" or ("`%s`"):format((vim.inspect(setting.default)))
    local words = setting.doc:gsub("|([%w_.():-]+)|", "`:h %1`"):gsub("`:h cellgate%-keys`", "`:h cellgate-keys`")
    out[#out + 1] = ("| `%s` | %s | %s |"):format(setting.name, default, (words:gsub("|", "\\|")))
  end
  return table.concat(out, "\n") .. "\n"
end

if arg and arg[0] and arg[0]:find("help%.lua$") then
  local folder = vim.fn.fnamemodify(arg[0], ":p:h:h")
  vim.opt.rtp:prepend(folder)
  local file = assert(io.open(folder .. "/doc/cellgate.txt", "w"))
  file:write(M.text())
  file:close()
  local page = folder .. "/../../docs/neovim.md"
  local text = assert(io.open(page)):read("a")
  local from = text:find("| setting | default |", 1, true)
  local to = text:find("\n\n", from, true) or #text
  file = assert(io.open(page, "w"))
  file:write(text:sub(1, from - 1), M.settings_table(), text:sub(to + 1))
  file:close()
end

return M
