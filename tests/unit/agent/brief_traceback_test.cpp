#include "brief_traceback.hpp"

#include <doctest/doctest.h>

using namespace cellgate::agent;

namespace {

using Entries = std::vector<std::string>;

const std::string library =
    "File /usr/lib/python3.11/http/client.py:975, in HTTPConnection.send(self, data)\n" + std::string(800, 'x') + "\n";
const std::string in_home = "File ~/.venv/lib/python3.11/site-packages/a.py:1\n" + std::string(800, 'x') + "\n";
const std::string own = "Cell In [1], line 1\n----> 1 fetch()\n";
const std::string module = "File /home/ada/plan.py:3, in fetch()\n----> 3 get()\n";
constexpr const char* head = "URLError        Traceback (most recent call last)";
constexpr const char* during = "\nDuring handling of the above exception, another exception occurred:\n";

} // namespace

TEST_CASE("of a long traceback the frames of libraries are left out") {
    const auto text = brief_traceback({head, own, library, in_home, module, library, "URLError: no"}, "see there");
    REQUIRE(text);
    CHECK(*text == std::string(head) + "\n" + own + "\n    [2 frames of libraries left out: see there]\n\n" + module +
                       "\n    [1 frame of libraries left out]\n\nURLError: no\n");
}

TEST_CASE("a short one, and one of the user's code alone, stay as they are") {
    CHECK_FALSE(brief_traceback({head, own, "File /usr/lib/python3.11/a.py:1\n", "URLError: no"}, "r"));
    const Entries own_frames(100, module);
    const Entries in_lib(100, "File /home/ada/lib/python_tools/a.py:1, in get()\n----> 1 get()\n");
    CHECK_FALSE(brief_traceback(in_lib, "r"));
    CHECK_FALSE(brief_traceback(own_frames, "r"));
    CHECK_FALSE(brief_traceback({}, "r"));
    CHECK_FALSE(brief_traceback({std::string(5000, 'x')}, "r"));
}

TEST_CASE("of errors on the way those stay that the last one does not repeat, or that came through the user's code") {
    const std::string end = "URLError: <urlopen error refused>";
    auto text = brief_traceback(
        {"OSError  Traceback", library, library, "OSError: refused", during, head, own, library, end}, "r");
    REQUIRE(text);
    CHECK(*text == std::string(head) + "\n" + "    [2 frames of libraries left out: r]\n\n" + own +
                       "\n    [1 frame of libraries left out]\n\n" + end + "\n");
    text = brief_traceback({"KeyError  Traceback", library, library, "KeyError: 'a'", during, head, own, end}, "r");
    REQUIRE(text);
    CHECK(text->starts_with("KeyError  Traceback\n    [2 frames of libraries left out: r]\n\nKeyError: 'a'\n" +
                            std::string(during) + "\n" + head));
    text =
        brief_traceback({"TimeoutError  Traceback", library, library, "TimeoutError: ", during, head, own, end}, "r");
    REQUIRE(text);
    CHECK(text->find("TimeoutError: \n") != std::string::npos);
    text = brief_traceback({"OSError  Traceback", module, library, library, "OSError: refused", during, head, own, end},
                           "r");
    REQUIRE(text);
    CHECK(text->find(module) != std::string::npos);
    CHECK(text->find("OSError: refused\n") != std::string::npos);
}
