-- `commands` is the table of `:Cellgate` and its subcommands, from which the help is made.
local approval_windows = require("cellgate.approval_windows")
local approvals = require("cellgate.approvals")
local at_cursor = require("cellgate.at_cursor")
local cells = require("cellgate.cells")
local changes_list = require("cellgate.changes_list")
local check = require("cellgate.check")
local check_fix = require("cellgate.check_fix")
local config_files = require("cellgate.config_files")
local installs = require("cellgate.installs")
local kernel_choice = require("cellgate.kernel_choice")
local kernel_lists = require("cellgate.kernel_lists")
local limits = require("cellgate.limits")
local logins = require("cellgate.logins")
local new_rule = require("cellgate.new_rule")
local notify = require("cellgate.notify")
local outputs = require("cellgate.outputs")
local permissions = require("cellgate.permissions")
local places = require("cellgate.places")
local policy_lists = require("cellgate.policy_lists")
local profiles = require("cellgate.profiles")
local record_list = require("cellgate.record_list")
local rpc = require("cellgate.rpc")
local run = require("cellgate.run")
local secrets = require("cellgate.secrets")
local session = require("cellgate.session")
local session_settings = require("cellgate.session_settings")
local text = require("cellgate.text")
local tool_servers = require("cellgate.tool_servers")
local transfer = require("cellgate.transfer")
local workspace = require("cellgate.workspace")

local M = {}

---@class cellgate.Command
---@field does string
---@field arguments? string as the help writes them
---@field act fun(arguments: string[], command: table): string? problem
---@field complete? fun(): string[]

local current_buffer, row, here = at_cursor.buffer, at_cursor.row, at_cursor.session
local execution_here, kernel_here = at_cursor.execution, at_cursor.kernel
local no_execution = "no cell that ran is at the cursor"

local function told(words)
  return function(problem)
    if problem then
      notify.show(rpc.describe(problem), vim.log.levels.ERROR)
    elseif words then
      notify.show(words)
    end
  end
end

local function with_execution(act)
  return function(...)
    local execution = execution_here()
    if not execution then
      return no_execution
    end
    return act(execution, ...)
  end
end

-- Shows text of any length next to the cursor, until that moves. Asked for again, the cursor enters it.
---@param lines string[] as they came
---@param what string
local function show(lines, what)
  vim.lsp.util.open_floating_preview(
    vim.tbl_map(text.visible, lines),
    "",
    { border = "rounded", max_height = 30, focus_id = "cellgate-" .. what }
  )
end

local function tags_of(items)
  return vim.tbl_map(function(item)
    return item.tag
  end, items)
end

local function tags()
  return tags_of(session.waiting())
end

local function server_names()
  local answer = session.answer_at_once(workspace.root(current_buffer()), "toolServers/list")
  return vim.tbl_map(function(server)
    return server.name
  end, answer and answer.servers or {})
end

-- What the kernel knows of the word at the cursor.
local function inspect()
  local line, column = vim.api.nvim_get_current_line(), vim.api.nvim_win_get_cursor(0)[2]
  here():request("kernel/inspect", {
    sessionId = kernel_here(),
    code = line,
    cursorPos = vim.fn.strchars(line:sub(1, column + 1)),
  }, function(problem, result)
    if problem then
      notify.show(rpc.describe(problem), vim.log.levels.WARN)
      return
    end
    if not result.text then
      notify.show("the kernel knows nothing of this")
      return
    end
    show(vim.split(result.text, "\n", { plain = true }), "inspect")
  end)
end

---@type table<string, cellgate.Command>
M.all = {
  run = {
    does = "Runs the cell at the cursor, or, with a range or a selection, these lines.",
    act = function(_, command)
      if command.range > 0 then
        run.rows(current_buffer(), command.line1 - 1, command.line2 - 1)
      else
        run.cell()
      end
    end,
  },
  advance = {
    does = "Runs the cell at the cursor and goes to the next one; at the end it makes one.",
    act = function()
      run.cell(true)
    end,
  },
  above = { does = "Runs all cells above the one at the cursor.", act = run.above },
  below = { does = "Runs the cell at the cursor and all below.", act = run.below },
  all = { does = "Runs all cells.", act = run.all },
  file = { does = "Runs the whole file as one.", act = run.file },
  line = { does = "Runs the line at the cursor.", act = run.line },
  next = {
    does = "Goes to the next cell.",
    act = function()
      cells.jump()
    end,
  },
  previous = {
    does = "Goes to the begin of the cell, or to the one before.",
    act = function()
      cells.jump(true)
    end,
  },
  interrupt = {
    does = "Interrupts what runs in the kernel; what is queued stays.",
    act = function()
      here():request("session/interrupt", { sessionId = kernel_here() }, told())
    end,
  },
  cancel = {
    does = "Cancels the cell at the cursor: takes it out of the queue, or interrupts it. With `!` its kernel is killed if it"
      .. " does not stop.",
    act = with_execution(function(execution, _, command)
      here():request("execute/cancel", { executionId = execution.id, force = command.bang }, function(problem, result)
        if problem or result.kernelBusy then
          notify.show(problem and rpc.describe(problem) or "it does not stop; :Cellgate! cancel kills its kernel")
        end
      end)
    end),
  },
  restart = {
    does = "Ends the kernel and starts a new one: its variables go.",
    act = function()
      here():request("session/restart", { sessionId = kernel_here() }, told("the kernel was restarted"))
    end,
  },
  clear = {
    does = "Takes away the output at the cursor, or with `!` all in this buffer. The journal keeps it.",
    act = function(_, command)
      if command.bang then
        places.clear(current_buffer())
      else
        local _, first = places.at(current_buffer(), row())
        if not first then
          return no_execution
        end
        places.clear(current_buffer(), first)
      end
    end,
  },
  output = {
    does = "Opens a window with all output of the cell at the cursor.",
    act = with_execution(function(execution)
      require("cellgate.output_window").open(execution)
    end),
  },
  error = {
    does = "Opens the whole traceback of the cell at the cursor.",
    act = with_execution(function(execution)
      local found
      for _, item in ipairs(execution.outputs.items) do
        found = item.kind == "error" and item or found
      end
      if not found then
        return "there is no error in this cell's output"
      end
      local lines = vim.tbl_map(function(line)
        return table.concat(vim.tbl_map(function(span)
          return span[1]
        end, line:spans()))
      end, outputs.item_lines(found, true))
      show(lines, "error")
    end),
  },
  frames = {
    does = "Puts the frames of the cell's error into the quickfix list.",
    act = with_execution(function(execution)
      local problem = execution.result and execution.result.error
      if not problem then
        return "this cell has not ended in an error"
      end
      local items = {}
      for i = #problem.frames, 1, -1 do
        local frame = problem.frames[i]
        if frame.uri then
          local buffer = workspace.buffer(frame.uri)
          items[#items + 1] = {
            bufnr = buffer,
            filename = not buffer and vim.uri_to_fname(frame.uri) or nil,
            lnum = places.row_in(frame.uri, frame.line, execution.id) + 1,
            text = "in " .. text.visible(frame["function"]),
          }
        end
      end
      if #items == 0 then
        return "no frame of this error is in a file"
      end
      vim.fn.setqflist({}, " ", {
        title = text.visible(problem.ename .. ": " .. (problem.evalue:match("^[^\n]*") or "")),
        items = items,
      })
      vim.cmd.copen()
    end),
  },
  html = {
    does = "Opens the html of the cell's output in the browser: without scripts, and without network.",
    act = with_execution(function(execution)
      return require("cellgate.html").open(execution)
    end),
  },
  remedy = {
    does = "Does what a note below the cell at the cursor says, where the note offers it: adds a rule for the session,"
      .. " restarts its kernel with more in its sandbox, installs a package, or writes wrappers. With several notes, that of"
      .. " the number.",
    arguments = "[number]",
    act = with_execution(function(execution, arguments)
      return require("cellgate.notes").remedy(execution, tonumber(arguments[1]))
    end),
  },
  changes = {
    does = "Lists the files of the workspace that the cell at the cursor changed: <CR> shows before and after, u undoes a file, U"
      .. " all, R the undo. Where the cell changed none, and with `!`, lists all that ran and changed files, agents' code too.",
    act = function(_, command)
      changes_list.open(workspace.root(current_buffer()), not command.bang and execution_here() or nil)
    end,
  },
  undo = {
    does = "Lists the files that the cell at the cursor changed, and asks whether to make them as they were before it.",
    act = with_execution(function(execution)
      changes_list.files(execution.root, execution.id, true)
    end),
  },
  input = {
    does = "Answers the code that reads a line. `:Cellgate! input` tells it that there is none (end of file).",
    act = function(_, command)
      return require("cellgate.input").answer(execution_here(), command.bang)
    end,
  },
  approvals = {
    does = "Enters the window in which what waits is read and answered. Where only a tool server's question waits, does what"
      .. " `:Cellgate answer` does.",
    act = function()
      return approval_windows.enter()
    end,
  },
  answer = {
    does = "Opens the question of a tool server that has waited longest, or the one of this tag: a form to fill in, or a page"
      .. " to open in the browser.",
    arguments = "[tag]",
    act = function(arguments)
      return approval_windows.answer(arguments[1])
    end,
    complete = function()
      return tags_of(session.elicitations())
    end,
  },
  allow = {
    does = "Allows the approval of this tag, if all of it was shown: this call, or, with a number, what its choice of"
      .. " that number says, if the window of `:Cellgate approvals` has shown the choice.",
    arguments = "{tag} [number]",
    act = function(arguments)
      if #arguments ~= 1 and #arguments ~= 2 then
        return "which one? Each call has a tag: :Cellgate allow 3, or :Cellgate allow 3 2 for its second choice"
      end
      return approvals.allow_tag(arguments[1], arguments[2])
    end,
    complete = tags,
  },
  deny = {
    does = "Denies the approval of this tag. The code receives the reason.",
    arguments = "{tag} [reason]",
    act = function(arguments)
      if not arguments[1] then
        return "which one? Each call has a tag: :Cellgate deny 3"
      end
      return approvals.deny_tag(arguments[1], table.concat(arguments, " ", 2))
    end,
    complete = tags,
  },
  rules = {
    does = "Lists the rules and what answers have allowed; a key revokes.",
    act = function()
      policy_lists.rules(workspace.root(current_buffer()))
    end,
  },
  rule = {
    does = "Adds a rule, after it has shown what the rule covers: allow, ask or deny, and what, such as"
      .. " `:Cellgate rule deny filesystem/move_file`. The form is that of `--allow` of the command line.",
    arguments = "{effect} {rule}",
    act = function(arguments)
      if not arguments[2] then
        return "which rule? For example :Cellgate rule deny filesystem/move_file"
      end
      new_rule.add(workspace.root(current_buffer()), table.concat(arguments, " "))
    end,
    complete = function()
      return { "allow", "ask", "deny" }
    end,
  },
  secrets = secrets.command,
  permissions = permissions.command,
  decisions = {
    does = "Lists the decision history, also what was not asked about; <CR> shows who or which rule decided, X cancels a"
      .. " tool call that goes on, also one whose cell has ended.",
    act = function()
      policy_lists.decisions(workspace.root(current_buffer()))
    end,
  },
  record = {
    does = "Lists what happened in the workspace: what ran, what was decided about it, how it ended. With a text, only what"
      .. " contains it. Keys show all of an entry, its source line, its output, or its execution only, and verify the"
      .. " record.",
    arguments = "[text]",
    act = function(arguments)
      record_list.open(workspace.root(current_buffer()), table.concat(arguments, " "))
    end,
  },
  servers = {
    does = "Lists the tool servers; keys start them, which may ask you to agree, write their wrappers, log in and out, and"
      .. " show their logs.",
    act = function()
      tool_servers.list(workspace.root(current_buffer()))
    end,
  },
  login = {
    does = "Logs in to a tool server at a URL: shows the host of the page, and opens or copies its URL if you say so. While"
      .. " the login waits, offers that again, and to cancel it. Without a name you choose from those that need a login.",
    arguments = "[server]",
    act = function(arguments)
      logins.login(workspace.root(current_buffer()), arguments[1])
    end,
    complete = server_names,
  },
  logout = {
    does = "Forgets the login to a tool server. Without a name you choose from those that have one.",
    arguments = "[server]",
    act = function(arguments)
      logins.logout(workspace.root(current_buffer()), arguments[1])
    end,
    complete = server_names,
  },
  generate = {
    does = "Writes the Python package of a tool server, `mcptools.{server}`.",
    arguments = "{server}",
    act = function(arguments)
      if not arguments[1] then
        return "of which server? :Cellgate servers lists them"
      end
      tool_servers.generate(workspace.root(current_buffer()), arguments[1])
    end,
    complete = server_names,
  },
  save = {
    does = "Saves a function that the cell at the cursor defines as a tool, which cells import from `mcptools.saved`: once you"
      .. " have agreed to its code and to the rules for what the cell was allowed. Where there are several, you choose one.",
    arguments = "[function]",
    act = with_execution(function(execution, arguments)
      tool_servers.save(execution.root, execution.id, arguments[1])
    end),
  },
  install = installs.command,
  executions = {
    does = "Lists what ran, runs and waits in this workspace, also what agents run.",
    act = function()
      kernel_lists.executions(workspace.root(current_buffer()))
    end,
  },
  kernel = kernel_choice.command,
  kernels = {
    does = "Lists the kernels that run, with what they use, and those that can be started; with the address of a Jupyter"
      .. " server, those of that server.",
    arguments = "[url]",
    act = function(arguments)
      kernel_lists.kernels(workspace.root(current_buffer()), arguments[1])
    end,
  },
  limits = limits.command,
  config = config_files.command,
  profiles = profiles.command,
  check = check.command,
  fix = check_fix.command,
  session = session_settings.command,
  inspect = { does = "Shows what the kernel knows of the word at the cursor.", act = inspect },
  variables = {
    does = "Lists the variables of the kernel.",
    act = function()
      kernel_lists.variables(workspace.root(current_buffer()), kernel_here())
    end,
  },
  transfer = {
    does = "Copies a variable of the kernel to the session of another kernel, of any language:"
      .. " `:Cellgate transfer rows typescript`, or `:Cellgate transfer rows typescript as table` to give it another name.",
    arguments = "{name} {session} [as {name}]",
    act = function(arguments)
      return transfer.act(workspace.root(current_buffer()), kernel_here(), arguments)
    end,
    complete = function()
      return transfer.targets(workspace.root(current_buffer()))
    end,
  },
  attach = {
    does = "Connects to the workspace's sidecar, and shows what ran there.",
    act = function()
      here().connection:ready(function(problem)
        if problem then
          show(vim.split(problem, "\n", { plain = true }), "attach")
        end
      end)
    end,
  },
  stop = {
    does = "Says goodbye to the sidecar: if no other editor is connected, its kernels end.",
    act = function()
      local there = session.all[workspace.root(current_buffer())]
      if not there or there.connection.state == "stopped" then
        return "this workspace is not connected"
      end
      there.connection:stop(function()
        notify.show("stopped")
      end)
    end,
  },
  log = {
    does = "Opens the plugin's log.",
    act = function()
      local root, kernel = workspace.root(current_buffer()), kernel_here()
      vim.cmd.split(vim.fn.fnameescape(require("cellgate.log").path()))
      vim.b.cellgate_root, vim.b.cellgate_session = root, kernel
    end,
  },
}

---@param command table as nvim_create_user_command gives it
function M.run(command)
  local name = command.fargs[1]
  local found = M.all[name]
  if not found then
    notify.show(("there is no :Cellgate %s; :h cellgate-commands lists them"):format(name), vim.log.levels.ERROR)
    return
  end
  local problem = found.act(vim.list_slice(command.fargs, 2), command)
  if problem then
    notify.show(problem, vim.log.levels.WARN)
  end
end

---@param lead string
---@param line string
---@return string[]
function M.complete(lead, line)
  local name = line:match("^.-Cellgate!?%s+(%S+)%s")
  local from
  if name then
    from = M.all[name] and M.all[name].complete and M.all[name].complete() or {}
  else
    from = vim.tbl_keys(M.all)
    table.sort(from)
  end
  return vim.tbl_filter(function(word)
    return vim.startswith(word, lead)
  end, from)
end

return M
