#include "install_notes.hpp"

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
    for (const char* code : {"", "pip install requests", "# %pip install requests", "%pip list",
                             "print('%pip install x')", "%pipinstall x", "%pip installx", "s = 'a\n'"}) {
        CAPTURE(code);
        CHECK(remedy(code) == "none");
    }
}

TEST_CASE("the command names what pip was asked for, and nothing else of the line") {
    for (const char* code :
         {"!pip install numpy | tail -1", "!pip install numpy && python -c pass", "!pip install numpy; rm x",
          "%pip install numpy  # for arrays", "!pip install numpy > log.txt", "!pip install numpy 2>&1 | tail -1",
          "!pip install -q -U --no-cache-dir numpy", "%pip install numpy &> log"}) {
        CAPTURE(code);
        CHECK(remedy(code) == "cellgate install numpy");
    }
    CHECK(remedy("%pip install 'tiny @ git+https://example.org/tiny'") ==
          "cellgate install --allow-source-builds 'tiny @ git+https://example.org/tiny'");
}

TEST_CASE("what the command cannot take over is named, and no package is guessed") {
    const std::string names = "cellgate install, with names and versions of packages";
    CHECK(remedy("%pip install --upgrade") == names);
    CHECK(remedy("%pip install") == names);
    for (const auto& [arguments, word] :
         {std::pair("-r requirements.txt", "the option -r"), std::pair("-t libs tiny -c c.txt", "the option -t"),
          std::pair("tiny -c constraints.txt", "the option -c"), std::pair("-e .", "the option -e"),
          std::pair("--index-url=https://example.org/ tiny", "the option --index-url="),
          std::pair("tiny --no-deps", "the option --no-deps"), std::pair(".", "\".\""),
          std::pair("git+https://example.org/tiny", "\"git+https://example.org/tiny\", a URL without a name"),
          std::pair("tiny.whl", "\"tiny.whl\", which pip could take for the name of a file"),
          std::pair("./tiny", "\"./tiny\""), std::pair("tiny>=2", "not in quotes"), std::pair("$name", "only a shell"),
          std::pair("{name}", "only a shell"), std::pair("ti\\", "only a shell")}) {
        CAPTURE(std::string(arguments));
        const std::string said = remedy(std::string("%pip install ") + arguments);
        CHECK(said.starts_with(names + "; not taken over from the cell: "));
        CAPTURE(said);
        CHECK(said.find(word) != std::string::npos);
    }
}

TEST_CASE("a note has what packages/install takes, where the cell's arguments could be taken over") {
    const auto install = [](const char* code) { return note_of_install(code).value().install; };
    CHECK(install("%pip install -q 'requests>=2,<3' numpy") == std::vector<std::string>{"requests>=2,<3", "numpy"});
    for (const char* code :
         {"%pip install -r requirements.txt", "%pip install", "%pip install 'tiny @ git+https://example.org/tiny'"}) {
        CAPTURE(code);
        CHECK_FALSE(install(code));
    }
    CHECK_FALSE(note_of_install("%pip install requests", "/usr/bin/python3").value().install);
}

TEST_CASE("a module that is missing is a note with the command that installs it") {
    const MissingModule missing{"cv2", "there is no module cv2", {"opencv-python"}};
    const protocol::Note note = note_of_missing(missing, std::nullopt);
    CHECK(note.text == "there is no module cv2");
    CHECK(note.remedy == "cellgate install opencv-python");
    CHECK(note.install == std::vector<std::string>{"opencv-python"});
    const protocol::Note outside = note_of_missing(missing, "/usr/bin/python3");
    CHECK(outside.remedy == "/usr/bin/python3 -m pip install opencv-python");
    CHECK_FALSE(outside.install);
}

TEST_CASE("where cellgate cannot install, the command is the interpreter's own") {
    const std::optional<protocol::Note> note =
        note_of_install("%pip install -q requests", "/home/a da/.venv/bin/python");
    CHECK(note.value().remedy ==
          "to have a package, in a terminal: '/home/a da/.venv/bin/python' -m pip install requests");
}

TEST_CASE("what a cell writes in such a line gets nowhere") {
    CHECK(remedy("%pip install $(id) `id` a;b x'y '; rm -rf ~ '").find_first_of("$`~") == std::string::npos);
    CHECK(remedy("%pip install a'; rm -rf x'").find("rm -rf") != std::string::npos); // quoted, as what is no package
    CHECK(remedy("%pip install a'\x1b[2J\n'").find('\x1b') == std::string::npos);
    CHECK(remedy("%pip install " + std::string(100'000, 'a')) ==
          "cellgate install, with names and versions of packages; not taken over from the cell: the line is long");
    CHECK(remedy("%pip install " + std::string(290, ' ') + "numpy").find("numpy") == std::string::npos);
}
