// What a tool server says about its tools, as a Python package. Input: a line with the server's name, then the tools as
// a JSON array. The text is read as Python's tokenizer would: literals and docstrings end where the generator wanted
// them to, and outside of them stands nothing but what the generator writes.

#include "base/escape_unprintable.hpp"
#include "fuzzing.hpp"
#include "wrappers/generate.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>
#include <string>
#include <string_view>
#include <vector>

using namespace cellgate;
using cellgate::fuzz::require;

namespace {

// A file's code: literals became "", docstrings """""", comments nothing.
std::string code_of(std::string_view text) {
    std::string code;
    for (std::size_t i = 0; i < text.size();) {
        if (text.substr(i, 3) == "\"\"\"") {
            i += 3;
            while (text.substr(i, 3) != "\"\"\"") {
                require(i < text.size(), "a docstring ends");
                i += text[i] == '\\' ? 2 : 1;
            }
            i += 3;
            code += "\"\"\"\"\"\"";
        } else if (text[i] == '"') {
            ++i;
            while (i < text.size() && text[i] != '"') {
                require(text[i] != '\n', "a literal ends on its line");
                i += text[i] == '\\' ? 2 : 1;
            }
            require(i < text.size(), "a literal ends");
            ++i;
            code += "\"\"";
        } else if (text[i] == '#') {
            i = std::min(text.find('\n', i), text.size());
        } else {
            code += text[i++];
        }
    }
    return code;
}

void check_calls(std::string_view code) {
    static const std::set<std::string_view> called{"_Tool",       "_dict_of",  "_first_of", "_list_of",  "_struct",
                                                   "_structured", "_tuple_of", "_variant",  "describe",  "__init__",
                                                   "call",        "run",       "run_async", "call_async"};
    for (std::size_t at = code.find('('); at != std::string_view::npos; at = code.find('(', at + 1)) {
        std::size_t start = at;
        while (start > 0 &&
               (std::isalnum(static_cast<unsigned char>(code[start - 1])) != 0 || code[start - 1] == '_')) {
            --start;
        }
        const std::string_view name = code.substr(start, at - start);
        const bool is_class = start >= 6 && code.substr(start - 6, 6) == "class ";
        require(name.empty() || name == "or" || is_class || called.contains(name), "nothing else is called");
    }
}

void check_lines(std::string_view code) {
    static constexpr std::array<std::string_view, 12> starts{"from __future__ import ",
                                                             "from typing import ",
                                                             "from .._runtime import (",
                                                             "from ._runtime import (",
                                                             "class ",
                                                             "def ",
                                                             "@overload",
                                                             "Result = ",
                                                             "_tool = _Tool(",
                                                             "_tool.describe(",
                                                             "\"\"\"\"\"\"",
                                                             "__all__ = ["};
    std::vector<char> open;
    std::size_t line_start = 0;
    for (std::size_t i = 0; i < code.size(); ++i) {
        const char c = code[i];
        if (i == line_start && open.empty() && c != ' ' && c != '\n') {
            const std::string_view line = code.substr(i, code.find('\n', i) - i);
            const std::size_t dot = line.find(".__readers__ = {");
            const bool known = std::any_of(starts.begin(), starts.end(),
                                           [&](std::string_view start) { return line.starts_with(start); });
            require(known || (dot != std::string_view::npos && line.find_first_of(" (;") > dot),
                    "a line that the generator writes");
        }
        if (c == '\n') {
            line_start = i + 1;
        } else if (c == '(' || c == '[' || c == '{') {
            open.push_back(c == '(' ? ')' : c == '[' ? ']' : '}');
        } else if (c == ')' || c == ']' || c == '}') {
            require(!open.empty() && open.back() == c, "brackets fit");
            open.pop_back();
        } else {
            require(std::isalnum(static_cast<unsigned char>(c)) != 0 ||
                        std::string_view("_ .,:=*/->@\"").find(c) != std::string_view::npos,
                    "no character that the generator does not write");
        }
    }
    require(open.empty(), "brackets are closed");
}

void check_file(const wrappers::File& file) {
    require(escape_unprintable(file.text, true) == file.text, "nothing in a file is invisible or reorders it");
    const std::string code = code_of(file.text);
    check_calls(code);
    check_lines(code);
}

void check_paths(const wrappers::Package& package) {
    std::set<std::string> paths;
    for (const wrappers::File& file : package.files) {
        const std::string folder = "mcptools/" + package.package + "/";
        const bool is_own = file.path.starts_with(folder);
        require(is_own || file.path == "mcptools/__init__.py" || file.path == "mcptools/_runtime.py",
                "files are in the package's folder");
        require(file.path.ends_with(".py") &&
                    file.path.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_/.") == std::string::npos,
                "a path is made of plain characters");
        require(std::count(file.path.begin(), file.path.end(), '.') == 1, "a path has one dot");
        require(std::count(file.path.begin(), file.path.end(), '/') == (is_own ? 2 : 1), "a path stays in its folder");
        require(paths.insert(file.path).second, "no two files are one");
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Input input(data, size);
    const std::string server(input.line());
    std::vector<protocol::ToolSpec> tools;
    try {
        tools = from_json<std::vector<protocol::ToolSpec>>(RawJson::parse(input.rest()), "tools");
    } catch (const Error&) {
        return 0;
    }
    const wrappers::Package package = wrappers::generate(server, tools);
    require(package.modules.size() + package.skipped.size() == tools.size(), "each tool is made or skipped");
    check_paths(package);
    for (const wrappers::File& file : package.files) {
        if (file.path != "mcptools/_runtime.py") {
            check_file(file);
        }
    }
    return 0;
}
