#include "base/files.hpp"
#include "base/json.hpp"
#include "base/raw_json.hpp"
#include "tools/tool_search.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <iostream>
#include <sstream>

using namespace cellgate;
using namespace cellgate::tools;

namespace {

const std::string fixtures = CELLGATE_FIXTURES;

SearchedTool tool(const std::string& name, const std::string& description, const std::string& schema = "{}") {
    protocol::ToolInfo info;
    info.name = name;
    info.hints.description = description;
    info.input_schema = RawJson::parse(schema);
    return searched_tool("server", info);
}

std::vector<std::string> found(const std::vector<SearchedTool>& tools, std::string_view query, std::size_t limit = 5) {
    std::vector<std::string> names;
    for (const std::size_t place : search_tools(tools, query, limit)) {
        names.push_back(tools[place].name);
    }
    return names;
}

std::vector<SearchedTool> real_tools() {
    std::vector<SearchedTool> all;
    for (const auto& entry : std::filesystem::directory_iterator(fixtures + "/mcp-tools")) {
        const Json tools = Json::parse(read_file(entry.path().string()).value());
        for (const Json& each : tools.is_array() ? tools : tools["tools"]) {
            protocol::ToolInfo info;
            info.name = each["name"].get<std::string>();
            info.hints.description = each.value("description", "");
            info.hints.title = each.value("title", "");
            info.input_schema = RawJson::of(each["inputSchema"]);
            all.push_back(searched_tool(entry.path().stem().string(), info));
        }
    }
    return all;
}

struct Recall {
    int queries = 0;
    int hits = 0;
};

// Of a file's queries those that some tool of `tools` answers. A line is the query and the right tools, with a tab
// between; or a wish, the right tools and the query for it of an agent that knew no tool.
Recall recall_at_five(const std::vector<SearchedTool>& tools, const std::string& file) {
    std::istringstream lines(read_file(fixtures + "/" + file).value());
    Recall counted;
    for (std::string line; std::getline(lines, line);) {
        std::istringstream columns(line);
        std::string query;
        std::string right;
        std::getline(std::getline(columns, query, '\t'), right, '\t');
        std::getline(columns, query);
        const std::string wanted = " " + right + " ";
        const auto is_right = [&](const SearchedTool& each) {
            return wanted.find(" " + each.server + "/" + each.name + " ") != std::string::npos;
        };
        if (std::none_of(tools.begin(), tools.end(), is_right)) {
            continue;
        }
        std::string first;
        bool hit = false;
        for (const std::size_t place : search_tools(tools, query, 5)) {
            hit = hit || is_right(tools[place]);
            first += " " + tools[place].server + "/" + tools[place].name;
        }
        ++counted.queries;
        counted.hits += hit ? 1 : 0;
        if (!hit) {
            MESSAGE(query << ": found" << first);
        }
    }
    return counted;
}

} // namespace

TEST_CASE("a rare word counts more than a frequent one, and a name more than a description") {
    const std::vector<SearchedTool> tools{tool("list", "Lists files."), tool("read", "Reads files of the archive."),
                                          tool("archive", "Packs files."), tool("other", "Nothing of it.")};
    CHECK(found(tools, "files of the archive") == std::vector<std::string>{"archive", "read", "list"});
    CHECK(found(tools, "files", 1).size() == 1);
    CHECK(found(tools, "zebra").empty());
    CHECK(found(tools, "the of and").empty());
    CHECK(found({}, "files").empty());
}

TEST_CASE("what fits far less than the best one is not found") {
    std::vector<SearchedTool> tools{tool("send_mail", "Sends a mail, with a file."), tool("draft_mail", "")};
    for (const char* name : {"read", "copy", "move", "split", "join", "sort"}) {
        tools.push_back(tool(name, std::string(name) + " a file."));
    }
    CHECK(found(tools, "send a mail with a file") == std::vector<std::string>{"send_mail", "draft_mail"});
    CHECK(found(tools, "file", 10).size() == 7);
}

TEST_CASE("words are found in every form and spelling of names") {
    const std::vector<SearchedTool> tools{tool("createPullRequest", ""), tool("get-issue", ""),
                                          tool("list_branches", "")};
    CHECK(found(tools, "creating requests") == std::vector<std::string>{"createPullRequest"});
    CHECK(found(tools, "ISSUES") == std::vector<std::string>{"get-issue"});
    CHECK(found(tools, "branch").front() == "list_branches");
    CHECK(found(tools, "bran").front() == "list_branches");
}

TEST_CASE("what an argument is called and described as is searched, too") {
    const std::vector<SearchedTool> tools{
        tool("send", "Sends it.", R"({"properties": {"attachment": {"description": "A photo to add."}}})"),
        tool("get", "Gets it.", R"({"properties": "none"})")};
    CHECK(found(tools, "attachments") == std::vector<std::string>{"send"});
    CHECK(found(tools, "photo") == std::vector<std::string>{"send"});
}

TEST_CASE("what an argument may be is searched, and arguments within arguments") {
    const std::vector<SearchedTool> tools{
        tool("compute", "Computes.", R"({"properties": {"kind": {"enum": ["median", 1]}, "of": {"const": "Lists"}}})"),
        tool("send", "Sends it.",
             R"({"properties": {"to": {"type": "array", "items": {"anyOf": [{"properties": {"street": {}}}]}}}})"),
        tool("get", "Gets it.")};
    CHECK(found(tools, "median") == std::vector<std::string>{"compute"});
    CHECK(found(tools, "list") == std::vector<std::string>{"compute"});
    CHECK(found(tools, "street") == std::vector<std::string>{"send"});
}

TEST_CASE("the first sentence counts more than the rest, and what a server repeats for three tools counts nothing") {
    const std::string repeated = " Use archives with care.";
    const std::vector<SearchedTool> tools{tool("one", "Gets it. Or packs it." + repeated),
                                          tool("two", "Packs it." + repeated), tool("three", "Sends it." + repeated)};
    CHECK(found(tools, "pack") == std::vector<std::string>{"two", "one"});
    CHECK(found(tools, "archives").empty());
    CHECK(found({tools[0], tools[1]}, "archives").size() == 2); // the control
}

TEST_CASE("a summary is the first line, short and safe to show") {
    protocol::ToolInfo info;
    info.hints.description = "\n  First \x1b[31mline.\nSecond line.";
    CHECK(summary_of(info) == "First \\x1b[31mline.");
    info.hints.description = std::string(200, 'x') + " y";
    CHECK(summary_of(info).size() < 170);
    info.hints.description.reset();
    info.hints.title = "Title";
    CHECK(summary_of(info) == "Title");
}

TEST_CASE("of a hundred real tools the right one is among the first five for nine of ten queries") {
    const std::vector<SearchedTool> tools = real_tools();
    REQUIRE(tools.size() == 100);
    const Recall tuned_with = recall_at_five(tools, "tool_queries.tsv");
    const Recall kept_back = recall_at_five(tools, "tool_queries_kept_back.tsv");
    CHECK(tuned_with.queries >= 50);
    CHECK(tuned_with.hits * 10 >= tuned_with.queries * 9);
    CHECK(kept_back.queries >= 50);
    CHECK(kept_back.hits * 10 >= kept_back.queries * 9);
}
