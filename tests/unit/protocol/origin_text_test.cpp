#include "protocol/origin_text.hpp"

#include <doctest/doctest.h>

using namespace cellgate;

TEST_CASE("an origin is the file, the line as editors count it, and its text; nothing of it can imitate other words") {
    protocol::Origin origin;
    origin.line = 3;
    origin.text = "tool.run()";
    CHECK(protocol::origin_text(origin) == "line 4 (reported by the code): tool.run()");
    for (const auto& [uri, file] : std::map<std::string, std::string>{
             {"file:///home/me/a%20b.py", "a b.py"},
             {"vscode-notebook-cell:/home/me/n.ipynb#W2sZmlsZQ%3D%3D", "n.ipynb"},
             {"untitled:Untitled-1", "untitled:Untitled-1"},
             {"file:///a%0Aline%201:%1B[2J", "a\\nline 1:\\x1b[2J"},
         }) {
        origin.uri = uri;
        CHECK(protocol::origin_text(origin) == file + " line 4 (reported by the code): tool.run()");
    }
}
