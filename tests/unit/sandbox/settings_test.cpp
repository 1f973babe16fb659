// Settings files in srt's format: what is read, what is refused, what is said; and no key that is passed over.

#include "base/error.hpp"
#include "machine.hpp"
#include "sandbox/domains.hpp"
#include "sandbox/settings.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace cellgate;
using namespace cellgate::sandbox;

namespace {

constexpr const char* of_ipybox = R"({
  "enableWeakerNestedSandbox": false,
  "allowPty": true,
  "filesystem": {
    "denyRead": [".env"],
    "allowWrite": [".", "~/Library/Jupyter", "~/.ipython"],
    "denyWrite": []
  },
  "network": {"allowedDomains": [], "deniedDomains": [], "allowLocalBinding": true}
})";

// A whole file with one more member at the top, in network and in filesystem.
std::string file_with(const std::string& top, const std::string& network = "", const std::string& filesystem = "") {
    return R"({"network": {"allowedDomains": [], "deniedDomains": [])" + network +
           R"(}, "filesystem": {"denyRead": [], "allowWrite": ["."], "denyWrite": [])" + filesystem + "}" + top + "}";
}

// What is wrong with the file, or "".
std::string refusal(const std::string& text) {
    try {
        parse_settings(text, "/s.json");
    } catch (const Error& error) {
        CHECK(error.code == ErrorCode::config_invalid);
        return error.message + " " + error.hint;
    }
    return {};
}

bool mentions(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("ipybox's own file is read as it is") {
    const Settings settings = parse_settings(of_ipybox, "/s.json");
    REQUIRE(settings.deny_read.size() == 1);
    CHECK(settings.deny_read[0].path == ".env");
    CHECK(settings.deny_read[0].where == "filesystem.denyRead[0] \".env\"");
    CHECK(settings.allow_write.size() == 3);
    CHECK(settings.network.configured);
    CHECK(settings.network.allowed_domains.empty());
    CHECK(settings.notices == std::vector<std::string>{"allowPty is not used: it is for macOS only"});
}

TEST_CASE("a file that is missing, empty, too large, no file or no strict JSON is refused") {
    for (const char* text : {"", " \n", "{}", "[]", "null", "{\"network\": {}}", "// c\n{}", "{,}", "\"x\""}) {
        CAPTURE(text);
        CHECK(refusal(text) != "");
    }
    CHECK(refusal(file_with("")) == "");
    CHECK(mentions(refusal(R"({"network": {"allowedDomains": [], "allowedDomains": [], "deniedDomains": []},
                               "filesystem": {"denyRead": [], "allowWrite": [], "denyWrite": []}})"),
                   "allowedDomains"));
    Machine machine;
    CHECK_THROWS_AS(read_settings(machine.root / "absent.json"), Error);
    CHECK_THROWS_AS(read_settings(machine.root), Error);
    machine.write(machine.root / "s.json", file_with(std::string(1 << 20, ' ')));
    CHECK_THROWS_AS(read_settings(machine.root / "s.json"), Error);
    machine.write(machine.root / "s.json", of_ipybox);
    CHECK(read_settings(machine.root / "s.json")->file == (machine.root / "s.json").string());
}

TEST_CASE("what srt requires is required, by its path") {
    for (const char* name : {"allowedDomains", "deniedDomains", "denyRead", "allowWrite", "denyWrite"}) {
        std::string text = file_with("");
        text.replace(text.find(name), std::string(name).size(), "allowRead");
        CAPTURE(name);
        const std::string said = refusal(text);
        CHECK_MESSAGE((mentions(said, std::string("work.") + name) || mentions(said, std::string("system.") + name) ||
                       mentions(said, "network.allowRead")),
                      said);
    }
}

// Of all that srt's schema has. `value` asks for something.
struct Row {
    const char* where; // "", "network" or "filesystem"
    const char* key;
    const char* value;
    char outcome; // 'e'nforced, 'n'otice, 'r'efused
};

constexpr Row rows[] = {
    {"network", "deniedDomainReasons", R"({"a.b": "no"})", 'n'},
    {"network", "strictAllowlist", "true", 'r'},
    {"network", "deniedResolvedAddresses", R"(["10.0.0.0/8"])", 'r'},
    {"network", "allowUnixSockets", R"(["/x"])", 'n'},
    {"network", "allowAllUnixSockets", "true", 'r'},
    {"network", "allowLocalBinding", "true", 'e'},
    {"network", "allowMachLookup", R"(["x"])", 'n'},
    {"network", "httpProxyPort", "8080", 'r'},
    {"network", "socksProxyPort", "1080", 'r'},
    {"network", "mitmProxy", R"({"socketPath": "/x", "domains": ["a.b"]})", 'r'},
    {"network", "filterRequest", R"("x")", 'r'},
    {"network", "allowPlaintextHeaderSet", "true", 'r'},
    {"network", "stripResponseHeaders", R"(["x"])", 'r'},
    {"network", "refuseOpaqueTunnels", "true", 'r'},
    {"network", "requireHostMatch", "true", 'r'},
    {"network", "ambiguousRequestTarget", R"("refuse")", 'r'},
    {"network", "tlsTerminate", R"({"caCertPath": "/x"})", 'r'},
    {"network", "parentProxy", R"({"http": "http://x"})", 'r'},
    {"filesystem", "disabled", "true", 'r'},
    {"filesystem", "allowRead", R"(["/data"])", 'e'},
    {"filesystem", "allowGitConfig", "true", 'n'},
    {"", "credentials", R"({"files": [{"path": "~/.x", "mode": "mask"}]})", 'r'},
    {"", "ignoreViolations", R"({"x": ["y"]})", 'n'},
    {"", "enableWeakerNestedSandbox", "true", 'r'},
    {"", "allowNestedUserNamespaces", "true", 'r'},
    {"", "enableWeakerNetworkIsolation", "true", 'n'},
    {"", "allowAppleEvents", "true", 'n'},
    {"", "ripgrep", R"({"command": "rg"})", 'n'},
    {"", "mandatoryDenySearchDepth", "3", 'n'},
    {"", "allowPty", "true", 'n'},
    {"", "seccomp", R"({"applyPath": "/x"})", 'n'},
    {"", "bwrapPath", R"("/x")", 'n'},
    {"", "socatPath", R"("/x")", 'n'},
    {"", "javaAgentJarPath", R"("/x")", 'n'},
    {"", "windows", R"({"x": 1})", 'n'},
    {"", "git", R"({"safeDirectories": ["/x"]})", 'n'},
};

std::string file_of(const Row& row, const std::string& value) {
    const std::string member = std::string(", \"") + row.key + "\": " + value;
    const std::string_view where = row.where;
    return file_with(where.empty() ? member : "", where == "network" ? member : "",
                     where == "filesystem" ? member : "");
}

TEST_CASE("every key of srt's is enforced, said not to be, or refused with what to do") {
    for (const Row& row : rows) {
        const std::string path = std::string(row.where) + (*row.where == '\0' ? "" : ".") + row.key;
        CAPTURE(path);
        const std::string said = refusal(file_of(row, row.value));
        if (row.outcome == 'r') {
            CHECK_MESSAGE(mentions(said, path), said);
            CHECK_MESSAGE((mentions(said, "Remove") || mentions(said, "--no-sandbox")), said);
        } else {
            CHECK(said == "");
            const Settings settings = parse_settings(file_of(row, row.value), "/s.json");
            CHECK(settings.notices.size() == (row.outcome == 'n' ? 1 : 0));
            CHECK((row.outcome == 'e' || mentions(settings.notices.at(0), path)));
        }
    }
}

TEST_CASE("that nothing may be bound is not enforced, and said") {
    const Settings settings = parse_settings(file_with("", R"(, "allowLocalBinding": false)"), "/s.json");
    REQUIRE(settings.notices.size() == 1);
    CHECK(settings.notices[0].starts_with("/s.json: network.allowLocalBinding: false is not enforced"));
}

TEST_CASE("what asks for nothing is neither refused nor worth a word") {
    for (const Row& row : rows) {
        for (const char* nothing : {"false", "[]", "{}", R"({"files": [], "x": {}})"}) {
            if (row.outcome != 'e') {
                CAPTURE(row.key);
                CHECK(refusal(file_of(row, nothing)) == "");
                CHECK(parse_settings(file_of(row, nothing), "/s.json").notices.empty());
            }
        }
    }
}

TEST_CASE("a key that is not known is an error, which knows what may have been meant") {
    CHECK(mentions(refusal(file_with("", R"(, "allowedDomain": ["a.b"])")), "Did you mean allowedDomains?"));
    CHECK(mentions(refusal(file_with("", "", R"(, "denyreads": ["a"])")), "Did you mean denyRead?"));
    const std::string said = refusal(file_with(R"(, "colour\u001b": 1)"));
    CHECK(mentions(said, "colour\\x1b: there is no such setting"));
    CHECK_FALSE(mentions(said, "Did you mean"));
}

TEST_CASE("values of another kind are refused by their path") {
    CHECK(mentions(refusal(file_with("", R"(, "allowLocalBinding": "yes")")),
                   "network.allowLocalBinding: expected true"));
    CHECK(mentions(refusal(file_with("", "", R"(, "allowRead": "x")")), "filesystem.allowRead: expected an array"));
    for (const char* entry :
         {"1", "\"\"", "\"a\\u0000b\"", "{}", R"({"path": "x"})", R"({"path": "x", "literal": false})",
          R"({"literal": true})", R"({"path": "x", "literal": true, "more": 1})"}) {
        CAPTURE(entry);
        CHECK(mentions(refusal(file_with("", "", std::string(R"(, "allowRead": ["a", )") + entry + "]")),
                       "filesystem.allowRead[1]"));
    }
    const Settings settings =
        parse_settings(file_with("", "", R"(, "allowRead": ["a*", {"path": "b*", "literal": true}])"), "/s.json");
    CHECK_FALSE(settings.allow_read[0].literal);
    CHECK(settings.allow_read[1].literal);
    CHECK(settings.allow_read[1].path == "b*");
}

TEST_CASE("hosts are names, wildcards below two parts, or addresses, with or without a port") {
    struct Entry {
        const char* text;
        const char* kept; // nullptr: refused
    };
    for (const Entry& entry : {Entry{"Example.ORG", "example.org"},
                               {"*.example.org", "*.example.org"},
                               {"example.org:443", "example.org:443"},
                               {"*.a.b:8080", "*.a.b:8080"},
                               {"localhost:3000", "localhost:3000"},
                               {"127.0.0.1", "127.0.0.1"},
                               {"[::1]", "[::1]"},
                               {"[0:0::1]:80", "[::1]:80"},
                               {"*", nullptr},
                               {"*.com", nullptr},
                               {"*.*", nullptr},
                               {"a.*.b", nullptr},
                               {"*a.b", nullptr},
                               {"", nullptr},
                               {"https://a.b", nullptr},
                               {"a.b/c", nullptr},
                               {"a..b", nullptr},
                               {"a.b.", "a.b"},
                               {".a.b", nullptr},
                               {"a.b:0", nullptr},
                               {"a.b:65536", nullptr},
                               {"a.b:", nullptr},
                               {"::1", "[::1]"},
                               {"[::1", nullptr},
                               {"[x]", nullptr},
                               {"a b", nullptr},
                               {"user@a.b", nullptr},
                               {"-a.b", nullptr},
                               {"\xc3\xa4.de", nullptr}}) {
        CAPTURE(entry.text);
        if (entry.kept == nullptr) {
            CHECK_THROWS_AS(check_domain(entry.text, DomainList::allowed), Error);
        } else {
            CHECK(check_domain(entry.text, DomainList::allowed) == entry.kept);
            CHECK(check_domain(entry.text, DomainList::denied) == entry.kept);
        }
    }
    CHECK(check_domain("*", DomainList::denied) == "*");
    CHECK_THROWS_AS(check_domain("*.com", DomainList::denied), Error);
    CHECK(mentions(refusal(R"({"network": {"allowedDomains": ["a.b", "*"], "deniedDomains": ["*"]},
                               "filesystem": {"denyRead": [], "allowWrite": [], "denyWrite": []}})"),
                   "network.allowedDomains[1]"));
}

TEST_CASE("an entry covers what it says and no more") {
    struct Entry {
        const char* entry;
        const char* host;
        bool covered;
    };
    for (const Entry& entry : {Entry{"example.org", "example.org", true},
                               {"example.org", "EXAMPLE.org.:443", true},
                               {"example.org", "a.example.org", false},
                               {"example.org", "evil-example.org", false},
                               {"*.example.org", "a.b.example.org", true},
                               {"*.example.org", "example.org", false},
                               {"*.example.org", "evilexample.org", false},
                               {"a.b:443", "a.b:443", true},
                               {"a.b:443", "a.b:80", false},
                               {"a.b:443", "a.b", false},
                               {"[::1]:80", "[0:0::1]:80", true},
                               {"*", "anything.at.all:1", true}}) {
        CAPTURE(entry.entry);
        CAPTURE(entry.host);
        CHECK(domain_covers(entry.entry, parse_host_query(entry.host).value()) == entry.covered);
    }
    for (const char* text : {"", "a b", "a.b:0", "a.b:x", "http://a.b", "[::1", "a@b.c"}) {
        CHECK_MESSAGE(!parse_host_query(text), text);
    }
}
