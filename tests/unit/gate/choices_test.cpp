#include "base/escape_unprintable.hpp"
#include "gate_fixture.hpp"

#include <doctest/doctest.h>

using namespace gate_fixture;

namespace {

std::vector<protocol::Choice> choices(Fixture& fixture, Action action, const std::string& execution = {}) {
    fixture.ask(std::move(action), execution);
    const std::vector<protocol::Choice> offered = fixture.user.requested.back().choices;
    fixture.deny();
    return offered;
}

std::vector<std::string> labels(const std::vector<protocol::Choice>& offered) {
    std::vector<std::string> result;
    for (const protocol::Choice& choice : offered) {
        CHECK(escape_unprintable(choice.label) == choice.label);
        result.push_back(choice.label);
    }
    return result;
}

} // namespace

TEST_CASE("choices begin narrow, say what they cover, and never cover everything") {
    Fixture fixture;
    std::filesystem::create_directories(fixture.root / "data");
    fixture.run_execution("e");
    const auto offered = choices(fixture, tool(R"({"path":"data/x.csv","head":3})"), "e");
    CHECK(labels(offered) ==
          std::vector<std::string>{"this call", "this exact call, until the cell ends",
                                   "read_file under data/, until the cell ends", "read_file under data/, this session",
                                   "any read_file of files, this session", "any read_file of files, this workspace"});
    CHECK(offered[0].scope == Scope::once);
    CHECK(offered[1].scope == Scope::execution);
    CHECK_FALSE(offered[1].rule);
    CHECK(offered[2].scope == Scope::execution);
    CHECK(offered[3].scope == Scope::session);
    CHECK(to_json(*offered[2].rule) == to_json(*offered[3].rule));
    CHECK(
        to_json(*offered[2].rule) ==
        R"({"effect":"allow","kind":"tool","server":"files","tool":"read_file","arguments":{"/path":{"under":"data"}}})");
    for (const protocol::Choice& choice : offered) {
        CHECK((!choice.rule || (choice.rule->server && choice.rule->tool)));
    }
    CHECK(labels(choices(fixture, tool("{}"))) == std::vector<std::string>{"this call",
                                                                           "any read_file of files, this session",
                                                                           "any read_file of files, this workspace"});
}

TEST_CASE("what a client runs itself is offered for exactly its payload, what it does with a file for its folder") {
    Fixture fixture;
    std::filesystem::create_directories(fixture.root / "src");
    CHECK(labels(choices(fixture, own_call(R"({"command":"npm test"})"))) ==
          std::vector<std::string>{"this call", "this exact call, this session", "this exact call, this workspace"});
    const std::string file = (fixture.root / "src/a.ts").string();
    CHECK(labels(choices(fixture, own_call(R"({"file_path":")" + file + R"("})", "Read"))) ==
          std::vector<std::string>{"this call", "Read under src/, this session", "any Read of claude, this session",
                                   "any Read of claude, this workspace"});
    // From its own folder, which is another one.
    CHECK(labels(choices(fixture, own_call(R"({"file_path":"src/a.ts"})", "Read"))) ==
          std::vector<std::string>{"this call", "any Read of claude, this session",
                                   "any Read of claude, this workspace"});
}

TEST_CASE("every choice is accepted as an answer, and covers the call") {
    for (const Action& action : std::initializer_list<Action>{
             tool(R"({"path":"data/x","dest~/file":"data"})"), host(R"({"path":"a"})", "read_file"),
             host(R"({"path":"a"})", "write_file"), launch({"/usr/bin/npx"}), own_call(R"({"command":"ls"})"),
             own_call(R"({"file_path":"a"})", "Read")}) {
        CAPTURE(to_json(gate::to_protocol(action)));
        Fixture fixture;
        fixture.run_execution("e");
        const auto offered = choices(fixture, action, "e");
        for (const protocol::Choice& choice : offered) {
            CAPTURE(choice.label);
            Fixture fresh;
            fresh.run_execution("e");
            const auto call = fresh.ask(action, "e");
            fresh.allow(choice.scope, choice.rule);
            CHECK(call->allowed());
            CHECK(fresh.ask(action, "e")->allowed() == (choice.scope != Scope::once));
        }
    }
}

TEST_CASE("a tool that is allowed in a folder until the cell ends is asked about in other folders and other cells") {
    Fixture fixture;
    std::filesystem::create_directories(fixture.root / "data");
    fixture.run_execution("e");
    const auto call = fixture.ask(tool(R"({"path":"data/x"})"), "e");
    const protocol::Choice choice = fixture.user.requested.back().choices[2];
    CHECK(choice.label == "read_file under data/, until the cell ends");
    fixture.allow(choice.scope, choice.rule);
    CHECK(call->allowed());
    CHECK(fixture.ask(tool(R"({"path":"data/y","head":1})"), "e")->allowed());
    CHECK_FALSE(fixture.ask(tool(R"({"path":"other/x"})"), "e")->allowed());
    fixture.deny();
    fixture.gate->end_execution("e");
    fixture.run_execution("next");
    CHECK_FALSE(fixture.ask(tool(R"({"path":"data/y"})"), "next")->allowed());
    fixture.deny();
}

TEST_CASE("a tool that is allowed on a host until the cell ends is asked about on other hosts") {
    Fixture fixture;
    fixture.run_execution("e");
    const auto call = fixture.ask(tool(R"({"url":"https://example.org:8443/a"})", "fetch"), "e");
    const protocol::Choice choice = fixture.user.requested.back().choices[2];
    CHECK(choice.label == "fetch on example.org:8443, until the cell ends");
    fixture.allow(choice.scope, choice.rule);
    CHECK(call->allowed());
    CHECK(fixture.ask(tool(R"({"url":"https://example.org:8443/b?c#d","method":"GET"})", "fetch"), "e")->allowed());
    for (const char* url : {"https://example.org/a", "http://example.org:8443/a", "https://example.org:8443@evil.net/",
                            "https://example.org:8443.evil.net/", "https://example.org:8443\\\\@evil.net/",
                            "https://evil.net/https://example.org:8443/", "https://example.org:8443/../x"}) {
        CAPTURE(url);
        CHECK_FALSE(fixture.ask(tool(fmt::format(R"({{"url":"{}"}})", url), "fetch"), "e")->allowed());
        fixture.deny();
    }
}

TEST_CASE("a host is offered only when every reader of the URL finds the same one") {
    Fixture fixture;
    const auto hosts = [&fixture](const std::string& arguments) {
        std::vector<std::string> found;
        for (const protocol::Choice& choice : choices(fixture, tool(arguments))) {
            if (choice.rule && choice.rule->arguments) {
                for (const auto& [pointer, matcher] : *choice.rule->arguments) {
                    found.push_back(pointer + " " + matcher.glob.value_or(""));
                }
            }
        }
        return found;
    };
    using Found = std::vector<std::string>;
    CHECK(hosts(R"({"url":"https://example.org/x"})") == Found{"/url https://example.org/**"});
    CHECK(hosts(R"({"pageUrl":"http://[2001:db8::1]:80/"})") == Found{"/pageUrl http://[2001:db8::1]:80/**"});
    CHECK(hosts(R"({"source":"https://example.org/x"})") == Found{"/source https://example.org/**"});
    CHECK(hosts(R"({"text":"https://example.org/x"})").empty()); // a message may begin with a link
    for (const char* url : {"https://example.org", "https://user@example.org/", "https://example.org?/", "HTTPS://a.b/",
                            "https:///example.org/", "https://*.org/", "https://127.1/", "file:///etc/passwd", "x"}) {
        CAPTURE(url);
        CHECK(hosts(fmt::format(R"({{"url":"{}"}})", url)).empty());
    }
    CHECK(hosts(R"({"url":"https://example.org/x","link":["https://evil.net/"]})").empty());
}

TEST_CASE("where only the exact payload counts, nothing wider is offered") {
    Fixture fixture;
    fixture.run_execution("e");
    for (const Action& action :
         std::initializer_list<Action>{host(R"({"path":"a","content":"b"})", "write_file"),
                                       host(R"({"argv":["ls"]})", "run_command"), launch({"/usr/bin/npx"})}) {
        for (const protocol::Choice& choice : choices(fixture, action, "e")) {
            CAPTURE(choice.label);
            CHECK_FALSE(choice.rule);
        }
    }
}

TEST_CASE("a folder is offered only when every path of the call is a plain one in the root") {
    Fixture fixture;
    std::filesystem::create_directories(fixture.root / "a");
    std::filesystem::create_directory_symlink("/etc", fixture.root / "a/etc");
    const auto folders = [&fixture](const std::string& arguments) {
        std::vector<std::string> found;
        for (const protocol::Choice& choice : choices(fixture, tool(arguments))) {
            if (choice.rule && choice.rule->arguments) {
                for (const auto& [pointer, matcher] : *choice.rule->arguments) {
                    found.push_back(pointer + " " + *matcher.under);
                }
            }
        }
        return found;
    };
    using Found = std::vector<std::string>;
    CHECK(folders(R"({"path":"a"})") == Found{"/path a"});
    CHECK(folders(R"({"path":"x"})") == Found{"/path ."});
    CHECK(folders(R"({"path":"a/../b/new"})") == Found{"/path b"});
    CHECK(folders(R"({"outputFile":"a/x","source_dir":"b/y"})") == Found{"/outputFile a", "/source_dir b"});
    CHECK(folders(R"({"path/":"a/x"})") == Found{"/path~1 a"});
    CHECK(folders(R"({"profile":"a/x","text":"a/x"})").empty());
    CHECK(folders(R"({"path":"/etc/passwd"})").empty());
    CHECK(folders(R"({"path":"a/etc/passwd"})").empty());
    CHECK(folders(R"({"path":"~/x"})").empty());
    CHECK(folders(R"({"path":""})").empty());
    CHECK(folders(R"({"source":"a/x","destination":"/etc/x"})").empty());
    CHECK(folders(R"({"path":"a/x","paths":["/etc/x"]})").empty()); // a list would be left free by the rule
    CHECK(folders(R"({"path":7})").empty());
}

TEST_CASE("a hostile name stays one quoted word in a label") {
    Fixture fixture;
    const auto offered = choices(fixture, tool("{}", "x of safe, in this session",
                                               "\u202e"
                                               "evil\n"));
    CHECK(labels(offered)[1] == R"(any "x of safe, in this session" of "\u{202e}evil\n", this session)");
}
