"""The windows of approvals and lists in a real Neovim, where only its own loop shows what happens: modes, the
command-line window, prompts to press Enter. The sidecar is the specs' fake one, which says what each test needs."""

import contextlib
import json
import unittest

from neovim_testing import PLUGIN, NeovimTest, wait_until

ASK = """
local id, more = ...
Fake:ask(id, more)
"""

ANSWERED = "return vim.tbl_map(function(each) return each.params end, Fake:asked('approval/respond'))"


class Windows(NeovimTest):
    def asking(self, **more):
        neovim = self.neovim()
        neovim.lua("package.path = ... .. '/tests/?.lua;' .. package.path local fakes = require('fake_sidecar') "
                   "require('cellgate').start() Fake = fakes.install() fakes.connect(vim.fs.normalize(vim.uv.cwd())) "
                   "Fake.answers['approval/respond'] = function() end "
                   "Fake.answers['policy/list'] = function() return { rules = {} } end", str(PLUGIN))
        neovim.lua(ASK, "a", {"editText": '{\n  "path": "x"\n}', **more})
        neovim.wait_screen(":Cellgate approvals to answer")
        return neovim

    def answered(self, neovim):
        return neovim.lua(ANSWERED)

    def edit(self, neovim):
        neovim.command("Cellgate approvals")
        neovim.wait_answerable()
        neovim.keys("e")
        neovim.wait_screen('"path": "x"', "cellgate://edit/")
        self.wait_half_a_second(neovim)

    def test_the_maps_reach_the_reader_from_insert_and_terminal_mode(self):
        neovim = self.asking()
        neovim.lua("vim.keymap.set({ 'n', 'i', 't' }, '<F5>', '<Plug>(cellgate-approvals)')")
        in_reader = "return vim.bo.filetype == 'cellgate-approval' and vim.api.nvim_get_mode().mode == 'n'"
        for begin in ("i", ":terminal cat<CR>i"):
            neovim.keys(begin)
            mode = "t" if "terminal" in begin else "i"
            neovim.wait_lua(f"return vim.api.nvim_get_mode().mode == '{mode}'")
            neovim.remote.call("nvim_input", "<F5>")
            neovim.wait_lua(in_reader)
            neovim.wait_answerable()
            neovim.keys("q")
            neovim.wait_lua("return vim.bo.filetype ~= 'cellgate-approval'")
        self.assertEqual(self.answered(neovim), [])
        neovim.keys(begin[-1])
        neovim.remote.call("nvim_input", "<F5>")
        neovim.wait_lua(in_reader)
        neovim.wait_answerable()
        neovim.keys("1")
        neovim.wait_lua(f"return #(function() {ANSWERED} end)() == 1")

    def test_only_a_typed_w_answers_and_nothing_else_takes_the_edited_text_away(self):
        neovim = self.asking()
        self.edit(neovim)
        neovim.keys("/x<CR>rm")
        neovim.wait_screen('"path": "m"')
        copy = self.workspace.path / "copy.json"
        for index, keys in enumerate(("ZZ", f":w {copy}<CR>", f":w! {copy}<CR>", f":wq {copy}<CR>", "ZZ",
                                      f":x {copy}<CR>")):
            neovim.keys(keys)
            neovim.wait(lambda: len([m for m in neovim.messages() if "nothing was answered" in m]) > index,
                        f"what {keys} does")
            neovim.wait_lua("return vim.bo.filetype .. vim.api.nvim_get_mode().mode == 'jsonn'", keys)
            self.assertIn('"path": "m"', neovim.lua("return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false))"))
        self.assertEqual(self.answered(neovim), [])
        self.assertFalse(copy.exists())
        self.wait_half_a_second(neovim)
        neovim.keys(":w<CR>")
        neovim.wait_lua(f"return #(function() {ANSWERED} end)() == 1")
        self.assertEqual(json.loads(self.answered(neovim)[0]["argumentsText"]), {"path": "m"})

    def test_wq_answers(self):
        neovim = self.asking()
        self.edit(neovim)
        neovim.keys(":wq<CR>")
        neovim.wait_lua(f"return #(function() {ANSWERED} end)() == 1")

    def test_in_the_command_line_window_nothing_throws_and_nothing_is_left_behind(self):
        neovim = self.asking()
        in_window = "return vim.fn.getcmdwintype() == ':'"
        neovim.keys("q:")
        neovim.wait_lua(in_window)
        # As from a map; what is typed here is the window's text.
        for number, command in enumerate(("approvals", "rules"), 1):
            neovim.lua("vim.cmd.Cellgate(...)", command)
            neovim.wait(lambda: len([m for m in neovim.messages() if "leave the command-line window" in m]) == number,
                        f"what {command} says")
        # What is asked changes meanwhile.
        neovim.lua(ASK, "b", {})
        neovim.wait_lua("return require('cellgate').waiting() == 2")
        neovim.lua("Fake:notify('approval/resolved', { approvalId = 'a', decision = 'deny', by = 'user' })")
        neovim.wait_lua("return require('cellgate').waiting() == 1")
        neovim.keys(":q<CR>")
        neovim.wait_lua("return vim.fn.getcmdwintype() == ''")
        neovim.wait_screen("#2", 'path: "b"', gone=('path: "x"',))
        floats = ("return #vim.tbl_filter(function(window) return vim.api.nvim_win_get_config(window).relative ~= '' "
                  "end, vim.api.nvim_list_wins())")
        self.assertEqual(neovim.lua(floats), 1)
        self.assertNotIn("E11", neovim.lua("return vim.fn.execute('messages')"))
        neovim.command("Cellgate approvals")
        neovim.wait_answerable()
        # And from the reader, by the key that leads there from a command line.
        neovim.keys(":")
        neovim.wait_lua("return vim.api.nvim_get_mode().mode == 'c'")
        neovim.remote.call("nvim_input", "<C-f>")
        neovim.wait_lua(in_window)
        neovim.keys(":q<CR>")
        neovim.wait_lua("return vim.fn.getcmdwintype() == ''")
        self.assertNotIn("E11", neovim.lua("return vim.fn.execute('messages')"))

    def test_no_message_stops_neovim(self):
        neovim = self.asking()
        for columns, laststatus, words in ((40, 2, "word " * 60), (60, 1, "word " * 60), (80, 2, "漢" * 200)):
            neovim.lua("vim.o.columns, vim.o.laststatus = ...", columns, laststatus)
            neovim.lua("vim.schedule(function() require('cellgate.notify').show(...) end)".replace(
                "...", repr(words)))
            neovim.wait(lambda: any(words[:5] in message for message in neovim.messages()[-1:]), "the message")
            neovim.lua("Turned = false vim.schedule(function() Turned = true end)")
            neovim.wait_lua("return Turned")
            self.assertEqual(neovim.lua("return vim.api.nvim_get_mode().mode"), "n", (columns, laststatus))

    def test_a_cursor_that_moves_below_is_not_under_the_preview(self):
        neovim = self.asking(display=["tool"] + [f"line {i}" for i in range(9)])
        neovim.lua("vim.api.nvim_buf_set_lines(0, 0, -1, false, vim.fn['repeat']({ 'text' }, 200))")
        for keys in ("gg", "L", "G", "M", "H", "zz"):
            neovim.keys(keys)
            neovim.wait_lua(
                "for _, window in ipairs(vim.api.nvim_list_wins()) do "
                "if vim.api.nvim_win_get_config(window).relative ~= '' then "
                "local top = vim.api.nvim_win_get_position(window)[1] + 1 "
                "local row = vim.fn.screenpos(0, vim.fn.line('.'), 1).row "
                "return row < top or row >= top + vim.api.nvim_win_get_height(window) + 2 end end", keys)

    def test_a_saved_session_with_a_list_comes_back_and_ends(self):
        neovim = self.asking()
        neovim.command("Cellgate rules")
        neovim.wait_screen("cellgate://rules")
        file = self.workspace.path / "Session.vim"
        neovim.lua("vim.cmd.mksession(...)", str(file))
        neovim.keys("q")
        neovim.wait_screen(":Cellgate approvals", gone=("cellgate://rules",))
        neovim.lua("vim.cmd.source(...)", str(file))
        neovim.command("Cellgate rules")
        neovim.wait_screen("X revoke")
        # It is no file with changes, about which Neovim would ask.
        with contextlib.suppress(ConnectionError):
            neovim.lua("vim.cmd.qa()")
        wait_until(lambda: neovim.ended, "the end of Neovim")
        neovim.quit()

    def test_configuration_files_are_listed_and_made_and_profiles_say_what_they_give(self):
        folder = self.workspace.home / ".config" / "cellgate"
        folder.mkdir(parents=True)
        (folder / "config.toml").write_text("# What I like.\n[run]\ntimeout = 20\n")
        neovim = self.neovim(self.workspace.write("a.py", "# %%\n1\n"))
        neovim.command("Cellgate config")
        neovim.wait_screen("config.toml: options of the command line", "profiles.json: profiles of sessions (not there yet)",
                           "run.timeout = 20")
        neovim.keys("/run.timeout<CR><CR>")
        neovim.wait_lua("return vim.fn.bufname():match('config.toml$') and vim.fn.line('.') == 3")
        neovim.command("buffer a.py | Cellgate profiles")
        neovim.wait_screen("minimal  plain computing", "imports 40 modules; timeout 30; code with an error is refused")
        neovim.keys("P")
        neovim.wait_screen('"profiles": {}')
        self.assertFalse((folder / "profiles.json").exists())
        neovim.keys(":w<CR>")
        neovim.wait(lambda: (folder / "profiles.json").exists(), "the file")
        (folder / "profiles.json").write_text("{")
        neovim.command("Cellgate config")
        neovim.wait_screen("profiles.json: profiles of sessions", "expected")


if __name__ == "__main__":
    unittest.main()
