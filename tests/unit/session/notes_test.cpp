#include "notes.hpp"

#include <doctest/doctest.h>

using namespace cellgate;
using namespace cellgate::session;

namespace {

std::string remedy(const std::string& code) {
    const std::optional<protocol::Note> note = note_of_install(code);
    return note ? note->remedy.substr(note->remedy.find("cellgate")) : "none";
}

} // namespace

TEST_CASE("pip in a cell is answered with the command that installs for good") {
    CHECK(remedy("import os\n%pip install requests\n") == "cellgate install requests");
    CHECK(remedy("!pip3 install -q 'requests>=2,<3' numpy") == "cellgate install 'requests>=2,<3' numpy");
    CHECK(remedy("  ! python3 -m pip install \"uvicorn[standard]\"") == "cellgate install 'uvicorn[standard]'");
    CHECK(remedy("%pip install --upgrade") == "cellgate install");
    for (const char* code : {"", "pip install requests", "# %pip install requests", "%pip list",
                             "print('%pip install x')", "%pipinstall x", "s = 'a\n'"}) {
        CAPTURE(code);
        CHECK(remedy(code) == "none");
    }
}

TEST_CASE("where cellgate cannot install, the command is the interpreter's own") {
    const std::optional<protocol::Note> note =
        note_of_install("%pip install -q requests", "/home/a da/.venv/bin/python");
    CHECK(note.value().remedy ==
          "to have a package, in a terminal: '/home/a da/.venv/bin/python' -m pip install requests");
}

TEST_CASE("what a cell writes in such a line gets nowhere") {
    CHECK(remedy("%pip install $(id) `id` a;b x'y '; rm -rf ~ '").find_first_of("$`;~") == std::string::npos);
    CHECK(remedy("%pip install " + std::string(100'000, 'a')).size() < 2000);
    CHECK(remedy("%pip install " + std::string(100'000, ' ')) == "cellgate install");
}

TEST_CASE("notes are few and each is said once") {
    std::optional<std::vector<protocol::Note>> notes;
    const Endpoint endpoint{Host{"example.org"}, 443};
    for (int i = 0; i < 100; ++i) {
        add_note(notes, note_of_refusal(endpoint, "no rule " + std::to_string(i / 2)));
    }
    REQUIRE(notes);
    CHECK(notes->size() == 8);
    CHECK(notes->at(1).text == "the connection to example.org:443 was refused: no rule 1");
    CHECK(notes->at(0).rule.value().host == "example.org:443");
    CHECK(note_of_refusal(endpoint, "a\x1b[2Jb\n").text.find('\x1b') == std::string::npos);
}
