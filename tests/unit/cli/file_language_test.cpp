#include "file_language.hpp"

#include <doctest/doctest.h>

using namespace cellgate::cli;

TEST_CASE("a file's ending names its language, in either case") {
    CHECK(language_of_file("x.sh") == "bash");
    CHECK(language_of_file("x.test.js") == "javascript");
    CHECK(language_of_file("X.R") == "R");
    CHECK(language_of_file("x.r") == "R");
    CHECK(language_of_file("x.py") == "python");
    CHECK(language_of_file("x.mts") == "typescript");
}

TEST_CASE("other files have no language") {
    for (const char* path : {"notes.txt", "notes", ".py", "a.py/notes", "x.py~", "x.ipynb", ""}) {
        CAPTURE(path);
        CHECK_FALSE(language_of_file(path));
    }
}

TEST_CASE("a language is known by its name and by its ending") {
    CHECK(language_of_name("Bash") == "bash");
    CHECK(language_of_name("sh") == "bash");
    CHECK(language_of_name("ts") == "typescript");
    CHECK(language_of_name("python") == "python");
    CHECK(language_of_name("r") == "R");
    for (const char* name : {"", ".", "markdown", "1", "x.ts"}) {
        CAPTURE(name);
        CHECK_FALSE(language_of_name(name));
    }
}
