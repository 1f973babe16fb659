"""Questions of tool servers, and logins, in a real Neovim: what its own loop, modes and commands do to their windows. The
sidecar is the specs' fake one, which says what each test needs."""

import unittest

from neovim_testing import PLUGIN, NeovimTest

FORM = {
    "server": "booking", "tool": "book_table", "message": "When should the table be booked?", "mode": "form",
    "createdAt": "2026-01-05T09:30:02.500Z",
    "fields": [{"name": "day", "title": "Day", "type": "text", "required": True, "format": "date"},
               {"name": "outside", "title": "Outside?", "type": "boolean", "required": False}],
}
ANSWERED = "return vim.tbl_map(function(each) return each.params end, Fake:asked('elicitation/respond'))"


class Questions(NeovimTest):
    def start(self):
        neovim = self.neovim()
        neovim.lua("package.path = ... .. '/tests/?.lua;' .. package.path local fakes = require('fake_sidecar') "
                   "require('cellgate').start() Fake = fakes.install() fakes.connect(vim.fs.normalize(vim.uv.cwd())) "
                   "Fake.answers['elicitation/respond'] = function() end "
                   "Opened = {} require('cellgate.config').values.open = function(url) table.insert(Opened, url) end",
                   str(PLUGIN))
        return neovim

    def ask(self, neovim, identifier, **more):
        neovim.lua("Fake:notify('elicitation/requested', ...)", {"elicitationId": identifier, **FORM, **more})

    def answering(self, **more):
        neovim = self.start()
        self.ask(neovim, "e1", **more)
        neovim.wait_screen("a tool server asks", ":Cellgate answer to answer", "When should the table be booked?")
        neovim.command("Cellgate answer")
        neovim.wait_screen("cellgate://answer/1", gone=("a tool server asks",))
        self.wait_half_a_second(neovim)
        return neovim

    def wait_answers(self, neovim, *answers):
        neovim.wait(lambda: neovim.lua(ANSWERED) == list(answers), lambda: f"{answers}: {neovim.lua(ANSWERED)}")

    def test_a_form_is_filled_in_as_text_and_sent_by_wq(self):
        neovim = self.answering()
        neovim.keys("/^day<CR>A2026-02-01<Esc>")
        neovim.keys("/^outside<CR>")
        neovim.wait_screen("day: 2026-02-01")
        neovim.keys("<CR>")
        neovim.wait_screen("outside: [x]")
        neovim.keys(":wq<CR>")
        self.wait_answers(neovim, {"elicitationId": "e1", "action": "accept",
                                   "values": {"day": "2026-02-01", "outside": True}})
        neovim.wait_screen("~", gone=("cellgate://answer/1",))

    def test_what_is_wrong_is_marked_and_wq_does_not_take_it_away(self):
        neovim = self.answering()
        for keys in (":w<CR>", ":wq<CR>", ":x!<CR>"):
            neovim.keys(keys)
            neovim.wait_screen("this is needed", "cellgate://answer/1")
            neovim.lua("vim.diagnostic.reset()")
            self.wait_half_a_second(neovim)
        self.assertEqual(neovim.lua(ANSWERED), [])
        neovim.lua("Fake.errors['elicitation/respond'] = "
                   "{ code = 1027, message = 'day: never is no date', data = { kind = 'answerInvalid' } }")
        neovim.keys("/^day<CR>Anever<Esc>")
        neovim.wait_screen("day: never")
        neovim.keys(":wq<CR>")
        neovim.wait_lua("return #vim.diagnostic.get() == 1")
        neovim.wait_screen("day: never is no date", "cellgate://answer/1")
        self.assertEqual(len(neovim.lua(ANSWERED)), 1)

    def test_zz_and_what_saves_files_by_itself_answer_nothing(self):
        neovim = self.answering()
        neovim.keys("/^day<CR>A2026-02-01<Esc>")
        neovim.wait_screen("day: 2026-02-01")
        neovim.lua("vim.cmd('silent! wall')")
        neovim.keys("ZZ")
        neovim.wait_message("only :w, typed here and without a name, answers")
        neovim.wait_screen("day: 2026-02-01", "cellgate://answer/1")
        self.assertEqual(neovim.lua(ANSWERED), [])
        self.wait_half_a_second(neovim)
        neovim.keys(":w<CR>")
        self.wait_answers(neovim, {"elicitationId": "e1", "action": "accept",
                                   "values": {"day": "2026-02-01", "outside": False}})

    def test_one_that_is_resolved_elsewhere_goes_also_while_the_user_types_or_is_in_the_command_line_window(self):
        neovim = self.answering()
        neovim.keys("/^day<CR>A2026")
        neovim.wait_lua("return vim.api.nvim_get_mode().mode == 'i'")
        neovim.lua("Fake:notify('elicitation/resolved', { elicitationId = 'e1', action = 'cancel', by = 'cancelled' })")
        neovim.wait_message("does not wait any more")
        neovim.wait_screen("~", gone=("cellgate://answer/1",))
        neovim.keys("<Esc>")
        neovim.wait_lua("return vim.api.nvim_get_mode().mode == 'n'")
        self.ask(neovim, "e2")
        neovim.wait_screen("a tool server asks")
        neovim.command("Cellgate answer")
        neovim.wait_screen("cellgate://answer/2")
        neovim.keys("q:")
        neovim.wait_lua("return vim.fn.getcmdwintype() == ':'")
        neovim.lua("Fake:notify('elicitation/resolved', { elicitationId = 'e2', action = 'accept', by = 'user' })")
        neovim.wait_lua("return require('cellgate').waiting() == 0")
        neovim.lua("vim.cmd.Cellgate('answer')")
        neovim.wait_message("no tool server asks anything")
        neovim.keys(":q<CR>")
        neovim.wait_lua("return vim.fn.getcmdwintype() == ''")
        neovim.wait_screen("~", gone=("cellgate://answer/2",))
        self.assertNotIn("E11", neovim.lua("return vim.fn.execute('messages')"))
        self.assertEqual(neovim.lua(ANSWERED), [])

    def test_what_is_typed_as_a_question_appears_goes_where_the_cursor_is(self):
        neovim = self.start()
        neovim.keys("iodC")
        self.ask(neovim, "e1", mode="url", url="https://pay.example/cards", host="pay.example")
        neovim.wait_screen("a tool server asks", "    pay.example")
        neovim.keys("dCoa<Esc>")
        neovim.wait_screen("odCdCoa")
        self.assertEqual([neovim.lua(ANSWERED), neovim.lua("return Opened")], [[], []])

    def test_a_login_is_asked_about_with_its_host_by_neovims_own_menu(self):
        neovim = self.start()
        neovim.lua("Fake.answers['toolServers/login'] = function() return "
                   "{ authorizationUrl = 'https://login.example/authorize?state=abc', host = 'login.example' } end "
                   "Fake.answers['toolServers/cancelLogin'] = function() Fake:notify('toolServers/loginEnded', "
                   "{ server = 'linear', status = 'cancelled' }) end")
        neovim.command_with_menu("Cellgate login linear", "Log in to linear: open login.example in the browser?",
                                 "1: open it in the browser")
        neovim.keys("1<CR>")
        neovim.wait_message("waits for the login at login.example")
        self.assertEqual(neovim.lua("return Opened"), ["https://login.example/authorize?state=abc"])
        neovim.command_with_menu("Cellgate login linear", "4: cancel the login")
        neovim.keys("4<CR>")
        neovim.wait_message("the login to linear was given up")
        self.assertEqual(neovim.lua("return #Opened"), 1)


if __name__ == "__main__":
    unittest.main()
