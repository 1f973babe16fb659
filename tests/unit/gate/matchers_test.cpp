#include "gate_fixture.hpp"

#include <doctest/doctest.h>

#include <unistd.h>

using namespace gate_fixture;

namespace {

namespace fs = std::filesystem;

// What an allow rule and what a deny rule with this matcher do to a call with these arguments.
struct Effects {
    Effect by_allow;
    Effect by_deny;
    friend bool operator==(const Effects&, const Effects&) = default;
};
constexpr Effects matches{Effect::allow, Effect::deny};
constexpr Effects differs{Effect::ask, Effect::ask};
constexpr Effects unclear{Effect::ask, Effect::deny}; // neither allowed nor let past a prohibition

Effects effects(Fixture& fixture, const std::string& pointer, const Matcher& matcher, const std::string& arguments) {
    const auto try_one = [&](Effect effect) {
        const Rule added = fixture.add(with(rule(effect), pointer, matcher));
        const Effect result = fixture.explain(tool(arguments)).effect;
        fixture.remove(added.id);
        return result;
    };
    return Effects{try_one(Effect::allow), try_one(Effect::deny)};
}

std::string with_path(const std::string& path) {
    std::string json = R"({"path":)";
    append_json_string(json, path);
    return json + "}";
}

std::ostream& operator<<(std::ostream& out, const Effects& effects) {
    return out << static_cast<int>(effects.by_allow) << "/" << static_cast<int>(effects.by_deny);
}

// Folders, files and links below the workspace, for paths of arguments.
void make_tree(const Fixture& fixture) {
    fs::create_directories(fixture.root / "data/sub");
    fs::create_directories(fixture.root / "other/deep");
    write_text(fixture.root / "data/file", "x");
    fs::create_directory_symlink(fixture.base, fixture.root / "data/out");
    fs::create_directory_symlink("../other", fixture.root / "data/sideways");
    fs::create_directory_symlink("sub", fixture.root / "data/inside");
    fs::create_symlink("/etc/cellgate-does-not-exist", fixture.root / "data/dangling");
    fs::create_symlink("loop", fixture.root / "data/loop");
    fs::create_directory_symlink("../data/sub", fixture.root / "other/back");
}

} // namespace

TEST_CASE("equals compares JSON values, numbers by every digit") {
    Fixture fixture;
    struct Row {
        const char* rule;
        const char* value;
        Effects expected;
    };
    const Row rows[] = {
        {"1", "1", matches},
        {"1", "1.0", matches},
        {"1", "10e-1", matches},
        {"100", "1E+2", matches},
        {"0", "-0.0", matches},
        {"0", "0e99999999999", matches},
        {"1", "2", differs},
        {"1", "-1", differs},
        {"1", "\"1\"", differs},
        {"1", "true", differs},
        {"9007199254740992", "9007199254740993", unclear},
        {"18446744073709551616", "18446744073709551617", unclear},
        {"0.1", "0.1000000000000000055511151231257827", unclear},
        {"123456789012345678901234567890", "123456789012345678901234567890", matches},
        {"123456789012345678901234567890", "1.23456789012345678901234567890e29", matches},
        {"1e400", "1e401", unclear},
        {"1", "1e9999999999", unclear},
        {"\"a\"", "\"\\u0061\"", matches},
        {"\"a\"", "\"A\"", differs},
        {"true", "true", matches},
        {"true", "false", differs},
        {"[1,2]", "[1, 2.0]", matches},
        {"[1,2]", "[2,1]", differs},
        {"[1]", "[1,1]", differs},
        {"[]", "{}", differs},
        {R"({"a":1,"b":[]})", R"({ "b":[], "a":1e0 })", matches},
        {R"({"a":1})", R"({"a":1,"b":2})", differs},
        {R"({"a":1})", R"({"b":1})", differs},
        {R"({"a":[{"n":9007199254740993}]})", R"({"a":[{"n":9007199254740992}]})", unclear},
    };
    for (const Row& row : rows) {
        CAPTURE(row.rule);
        CAPTURE(row.value);
        CHECK(effects(fixture, "/v", equals(row.rule), std::string(R"({"v":)") + row.value + "}") == row.expected);
    }
    // Control: read as doubles, these are one number.
    CHECK(Json::parse("18446744073709551616") == Json::parse("18446744073709551617"));
    CHECK(error_of([&] { fixture.add(with(rule(Effect::allow), "/v", equals("[1e9999999999]"))); }) ==
          ErrorCode::rule_invalid);
}

TEST_CASE("a pointer finds what RFC 6901 says, and what is not there matches nothing") {
    Fixture fixture;
    const std::string arguments =
        R"({"a/b":"1","m~n":"2","~1":"3","":"4","list":["x",{"y":"5"}],"o":{"":{"z":"6"}},"01":"7"})";
    struct Row {
        const char* pointer;
        const char* value;
    };
    const Row rows[] = {{"/a~1b", "1"},   {"/m~0n", "2"},     {"/~01", "3"},  {"/", "4"},
                        {"/list/0", "x"}, {"/list/1/y", "5"}, {"/o//z", "6"}, {"/01", "7"}};
    for (const Row& row : rows) {
        CAPTURE(row.pointer);
        CHECK(effects(fixture, row.pointer, equals(fmt::format("\"{}\"", row.value)), arguments) == matches);
        CHECK(effects(fixture, row.pointer, glob(row.value), arguments) == matches);
    }
    for (const char* pointer : {"/none", "/list/00", "/list/01", "/list/-", "/list/2", "/list/+1", "/a~1b/0", "/list/",
                                "/list/99999999999999999999999"}) {
        CAPTURE(pointer);
        CHECK(effects(fixture, pointer, glob("**"), arguments) == differs);
    }
    CHECK(effects(fixture, "", equals(R"({"path":"a"})"), R"({"path":"a"})") == matches);
    CHECK(effects(fixture, "", equals(R"({"path":"a"})"), R"({"path":"a","more":1})") == differs);
    for (const char* pointer : {"path", "/~", "/~2", "/a~"}) {
        CAPTURE(pointer);
        CHECK(error_of([&] { fixture.add(with(rule(Effect::allow), pointer, glob("**"))); }) ==
              ErrorCode::rule_invalid);
    }
}

TEST_CASE("all conditions have to hold, and no condition holds for all") {
    Fixture fixture;
    RuleSpec spec = with(with(rule(Effect::allow), "/a", equals("1")), "/b", glob("x*"));
    fixture.add(spec);
    CHECK(fixture.explain(tool(R"({"a":1,"b":"xy"})")).effect == Effect::allow);
    CHECK(fixture.explain(tool(R"({"a":1,"b":"yx"})")).effect == Effect::ask);
    CHECK(fixture.explain(tool(R"({"b":"xy"})")).effect == Effect::ask);
    RuleSpec all = rule(Effect::allow, ActionKind::tool, "web");
    all.arguments.emplace();
    fixture.add(all);
    CHECK(fixture.explain(tool("{}", "get", "web")).effect == Effect::allow);
}

TEST_CASE("in a glob * stops at /, ** does not, and nothing else is magic") {
    Fixture fixture;
    struct Row {
        const char* pattern;
        const char* value;
        Effects expected;
    };
    const Row rows[] = {
        {"data/*", "data/x", matches},
        {"data/*", "data/", matches},
        {"data/*", "data/x/y", differs},
        {"data/*", "data", differs},
        {"data/**", "data/x/y", matches},
        {"data/**", "database", differs},
        {"**/x", "a/b/x", matches},
        {"**/x", "x", differs},
        {"*.csv", "a.csv", matches},
        {"*.csv", "a.csv.sh", differs},
        {"*.csv", "a/b.csv", differs},
        {"a*b*c", "aXbYbZc", matches},
        {"a**c", "a/b/c", matches},
        {"a?c", "abc", differs},
        {"a?c", "a?c", matches},
        {"[ab]", "a", differs},
        {"[ab]", "[ab]", matches},
        {"a\\*", "a*", differs},
        {"**", "", matches},
        {"data/**", "data/../etc/passwd", unclear},
        {"data/**", "data/..", unclear},
        {"**", "..", unclear},
        {"data/**", "data\\..\\x", unclear},
        {"data/**", "data/..x/...", matches},
        {"https://example.com/**", "https://example.com/a/b", matches},
        {"https://example.com/**", "https://example.com.evil.org/", differs},
    };
    for (const Row& row : rows) {
        CAPTURE(row.pattern);
        CAPTURE(row.value);
        CHECK(effects(fixture, "/path", glob(row.pattern), with_path(row.value)) == row.expected);
    }
    CHECK(effects(fixture, "/path", glob("**"), R"({"path":["a"]})") == differs);
    CHECK(effects(fixture, "/path", glob("**"), R"({"path":"a\u0000b"})") == unclear);
    CHECK(effects(fixture, "/path", glob("**"), with_path(std::string(20'000, 'a'))) == unclear);
    // Control: by text alone, the way out of the folder matches.
    CHECK(std::string("data/../etc/passwd").starts_with("data/"));
}

TEST_CASE("a pattern of many stars costs no more than its length times the text's") {
    Fixture fixture;
    std::string pattern;
    for (int i = 0; i < 300; ++i) {
        pattern += "*a";
    }
    CHECK(effects(fixture, "/path", glob(pattern + "b"), with_path(std::string(16'000, 'a'))) == differs);
}

TEST_CASE("under resolves paths, and no path outside the folder matches") {
    Fixture fixture;
    make_tree(fixture);
    struct Row {
        std::string value;
        Effects expected;
    };
    const Row rows[] = {
        {"data", matches},
        {"data/", matches},
        {"data/file", matches},
        {"./data//file", matches},
        {"data/new/file", matches},
        {"data/sub/../file", matches},
        {"data/inside/x", matches},
        {"other/back/x", matches},
        {(fixture.root / "data/file").string(), matches},
        {"database", differs},
        {"other", differs},
        {"data/..", differs},
        {"data/../other", differs},
        {"/etc/passwd", differs},
        {"data/out/policy", differs},
        {"data/sideways/deep", differs},
        {"data/dangling", differs},
        {"..", differs},
    };
    for (const Row& row : rows) {
        CAPTURE(row.value);
        CHECK(effects(fixture, "/path", under("data"), with_path(row.value)) == row.expected);
    }
    CHECK(effects(fixture, "/path", under("data"), R"({"path":["data"]})") == differs);
    CHECK(effects(fixture, "/path", under((fixture.root / "data").string()), with_path("data/x")) == matches);
    CHECK(effects(fixture, "/path", under("."), with_path("anything")) == matches);
    CHECK(effects(fixture, "/path", under("."), with_path("../x")) == differs);
    // Controls: by text these are in the folder, and the system follows them out of it.
    CHECK(std::string("data/out/policy").starts_with("data/"));
    CHECK(fs::exists(fixture.root / "data/out/root"));
    CHECK(fs::weakly_canonical(fixture.root / "data/dangling").string().starts_with(fixture.root.string()));
}

TEST_CASE("a path that readers may understand differently is unclear") {
    Fixture fixture;
    make_tree(fixture);
    const std::string values[] = {
        "data/loop",
        "data/new/../file",
        "other/back/../x", // data/x or other/x: readers disagree
        "data/sideways/../x",
        "data/file/x",
        "",
        "~/data",
        "data/$HOME",
        "data/%2e%2e/x",
        "data\\..\\x",
        " data",
        "data ",
        "\"data",
        "'data'",
        "file:///etc/passwd",
        "file:data",
        "\xc2\xa0/etc/passwd", // a reader that trims would go elsewhere
        "\xef\xbb\xbf/etc/passwd",
        "data/\nx",
        "/proc/self/cwd/data",
        "data/" + std::string(5000, 'x'),
    };
    for (const std::string& value : values) {
        CAPTURE(value);
        CHECK(effects(fixture, "/path", under("data"), with_path(value)) == unclear);
    }
    CHECK(effects(fixture, "/path", under("data"), R"({"path":"data/a\u0000/../../x"})") == unclear);
}

TEST_CASE("a rule cannot name a folder that readers may understand differently") {
    Fixture fixture;
    for (const char* folder : {"~/data", "$HOME", " data"}) {
        CAPTURE(folder);
        CHECK(error_of([&] { fixture.add(with(rule(Effect::allow), "/path", under(folder))); }) ==
              ErrorCode::rule_invalid);
    }
}

TEST_CASE("a matcher says exactly one thing") {
    Fixture fixture;
    Matcher both = glob("a");
    both.under = "a";
    CHECK(error_of([&] { fixture.add(with(rule(Effect::allow), "/path", both)); }) == ErrorCode::rule_invalid);
    CHECK(error_of([&] { fixture.add(with(rule(Effect::allow), "/path", Matcher{})); }) == ErrorCode::rule_invalid);
    CHECK(error_of([&] { fixture.add(with(rule(Effect::allow), "/path", glob(""))); }) == ErrorCode::rule_invalid);
    CHECK(error_of([&] { fixture.add(with(rule(Effect::allow), "/path", glob(std::string(2000, '*')))); }) ==
          ErrorCode::rule_invalid);
    CHECK(error_of([&] { fixture.add(rule(Effect::allow, std::nullopt)); }) == ErrorCode::rule_invalid);
    CHECK(error_of([&] { fixture.add(rule(Effect::allow, ActionKind::tool, "")); }) == ErrorCode::rule_invalid);
}

TEST_CASE("a relative path of a client's own call is not the workspace's") {
    Fixture fixture;
    make_tree(fixture);
    const auto decided = [&](Effect effect, const std::string& path) {
        const Rule added = fixture.add(with(rule(effect, ActionKind::tool, "claude"), "/path", under("data")));
        const Effect found = fixture.explain(own_call(with_path(path), "Read")).effect;
        fixture.remove(added.id);
        return found;
    };
    const std::string inside = (fixture.root / "data/file").string();
    CHECK(decided(Effect::allow, inside) == Effect::allow);
    CHECK(decided(Effect::deny, inside) == Effect::deny);
    CHECK(decided(Effect::allow, "data/file") == Effect::ask); // from its folder it may be another file
    CHECK(decided(Effect::deny, "file") == Effect::deny);      // and this may be that one
    CHECK(effects(fixture, "/path", under("data"), with_path("data/file")) == matches);
    CHECK(effects(fixture, "/path", under("data"), with_path("file")) == differs);
}
