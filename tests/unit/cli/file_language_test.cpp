#include "file_language.hpp"

#include <doctest/doctest.h>

using namespace cellgate::cli;

TEST_CASE("a file's ending names its language, in either case") {
    CHECK(language_of_file("x.sh") == "bash");
    CHECK(language_of_file("x.test.js") == "javascript");
    CHECK(language_of_file("X.R") == "R");
    CHECK(language_of_file("x.r") == "R");
}

TEST_CASE("other files have no language") {
    for (const char* path : {"notes.txt", "notes", ".py", "a.py/notes", "x.py~", "x.ipynb", "x.py", ""}) {
        CAPTURE(path);
        CHECK_FALSE(language_of_file(path));
    }
}

TEST_CASE("languages are the same in either case") {
    CHECK(same_language("R", "r"));
    CHECK_FALSE(same_language("java", "javascript"));
}
