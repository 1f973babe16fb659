#include "gate_fixture.hpp"

#include <doctest/doctest.h>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace gate_fixture;

namespace {

std::filesystem::path workspace_file(const Fixture& fixture) {
    for (const auto& entry : std::filesystem::directory_iterator(fixture.policy)) {
        if (entry.path().filename().string().starts_with("root-") && entry.path().extension() == ".json") {
            return entry.path();
        }
    }
    return {};
}

std::string read_text(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

mode_t mode_of(const std::filesystem::path& path) {
    struct stat found{};
    REQUIRE(::lstat(path.c_str(), &found) == 0);
    return found.st_mode & 0777;
}

// Puts a file in the place of another one, as an editor does.
void replace(const std::filesystem::path& path, const std::string& text, mode_t mode = 0600) {
    const std::filesystem::path aside = path.string() + ".new";
    write_text(aside, text);
    ::chmod(aside.c_str(), mode);
    std::filesystem::rename(aside, path);
}

// A file of stored rules.
std::string text_of(const std::vector<Json>& rules) {
    return Json{{"version", 1}, {"rules", rules}}.dump();
}

struct NamedText {
    const char* name;
    std::string text;
};

// Every source of rules allows a tool, one of them the workspace's file.
struct EverythingAllowed {
    EverythingAllowed() {
        fixture->add(gate_fixture::rule(Effect::allow), Scope::workspace);
        fixture->add(gate_fixture::rule(Effect::allow), Scope::session);
        fixture->gate->configure(gate_fixture::rule(Effect::allow), protocol::RuleSource::command_line);
        fixture->run_execution("e", protocol::ApprovalMode::allow);
        file = workspace_file(*fixture);
        good = read_text(file);
        rule = Json::parse(good)["rules"][0];
    }

    std::string text_with(const char* key, const Json& value) const {
        Json changed = rule;
        changed[key] = value;
        return text_of({changed});
    }

    // Nothing is allowed while the file is this one, and nothing overwrites it.
    void check_denied_with(const std::string& text, mode_t mode = 0600) const {
        CHECK(fixture->ask(tool("{}"), "e")->allowed()); // control
        replace(file, text, mode);
        CHECK(fixture->ask(tool("{}"), "e")->denied());
        CHECK(fixture->ask(tool("{}"))->decision->reason.find(file.filename().string()) != std::string::npos);
        CHECK(fixture->user.requested.empty());
        CHECK(error_of([&] { fixture->gate->policy_list(); }) == ErrorCode::policy_unreadable);
        CHECK(error_of([&] { fixture->explain(tool("{}")); }) == ErrorCode::policy_unreadable);
        CHECK(error_of([&] { fixture->add(gate_fixture::rule(Effect::allow), Scope::workspace); }) ==
              ErrorCode::policy_unreadable);
        CHECK(read_text(file) == text);
        replace(file, good);
        CHECK(fixture->ask(tool("{}"), "e")->allowed());
    }

    std::unique_ptr<Fixture> fixture = std::make_unique<Fixture>();
    std::filesystem::path file;
    std::string good;
    Json rule;
};

} // namespace

TEST_CASE("stored rules are private, outside the root, and leave nothing aside") {
    Fixture fixture;
    fixture.add(rule(Effect::allow), Scope::workspace);
    fixture.add(rule(Effect::deny, ActionKind::host), Scope::always);
    CHECK(mode_of(fixture.policy) == 0700);
    CHECK(mode_of(workspace_file(fixture)) == 0600);
    CHECK(mode_of(fixture.policy / "user.json") == 0600);
    CHECK(std::filesystem::is_empty(fixture.root));
    std::size_t files = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(fixture.policy)) {
        ++files;
    }
    CHECK(files == 3); // with the lock
    CHECK(Json::parse(read_text(workspace_file(fixture)))["rules"].size() == 1);
}

TEST_CASE("a folder for rules inside the root is refused, also through a link") {
    Fixture fixture;
    std::filesystem::create_directory_symlink(fixture.root, fixture.base / "link");
    const auto make = [&fixture](const std::filesystem::path& folder, const std::filesystem::path& root) {
        return error_of([&] {
            gate::GateOptions options;
            options.root = root.string();
            options.policy_directory = folder.string();
            const gate::Gate other(fixture.clock, options);
        });
    };
    CHECK(make(fixture.root / ".cellgate", fixture.root) == ErrorCode::config_invalid);
    CHECK(make(fixture.base / "link/x", fixture.root) == ErrorCode::config_invalid);
    CHECK(make(fixture.root / "x", fixture.base / "link") == ErrorCode::config_invalid);
    CHECK(make(fixture.policy, "/") == ErrorCode::config_invalid);
    CHECK_FALSE(make(fixture.base / "root2", fixture.root));
}

TEST_CASE("stored rules that are no file of rules allow nothing, whatever else allows") {
    const EverythingAllowed allowed;
    const std::string& good = allowed.good;
    const NamedText rows[] = {
        {"garbage", "rules: yes"},
        {"empty", ""},
        {"cut off", good.substr(0, good.size() / 2)},
        {"another version", R"({"version":2,"rules":[]})"},
        {"no rules", R"({"version":1})"},
        {"a key twice", R"({"version":1,"rules":[],"rules":[]})"},
        {"an unknown field beside the rules", R"({"version":1,"rules":[],"deny":[]})"},
        {"too large", good + std::string(std::size_t{5} << 20, ' ')},
    };
    for (const NamedText& row : rows) {
        CAPTURE(row.name);
        allowed.check_denied_with(row.text);
    }
}

TEST_CASE("stored rules one of which is invalid allow nothing, whatever else allows") {
    const EverythingAllowed allowed;
    Json without_kind = allowed.rule;
    without_kind.erase("kind");
    const NamedText rows[] = {
        {"an unknown condition", allowed.text_with("path", "data")},
        {"a condition that is null", allowed.text_with("server", nullptr)},
        {"an unknown effect", allowed.text_with("effect", "permit")},
        {"a matcher of nothing", allowed.text_with("arguments", Json{{"/path", Json::object()}})},
        {"an unknown matcher", allowed.text_with("arguments", Json{{"/path", Json{{"regex", ".*"}}}})},
        {"a broken pointer", allowed.text_with("arguments", Json{{"path", Json{{"glob", "*"}}}})},
        {"a broken time", allowed.text_with("expiresAt", "soon")},
        {"a rule of a session", allowed.text_with("sessionId", "s")},
        {"a source that is not this file's", allowed.text_with("source", "session")},
        {"an id twice", text_of({allowed.rule, allowed.rule})},
        {"an allow rule for everything", text_of({without_kind})},
    };
    for (const NamedText& row : rows) {
        CAPTURE(row.name);
        allowed.check_denied_with(row.text);
    }
}

TEST_CASE("stored rules that others can write allow nothing, whatever else allows") {
    const EverythingAllowed allowed;
    for (const mode_t mode : {0666, 0620}) {
        CAPTURE(mode);
        allowed.check_denied_with(allowed.good, mode);
    }
}

TEST_CASE("a file of stored rules that is not a regular file of the user allows nothing") {
    Fixture fixture;
    fixture.gate->configure(rule(Effect::allow), protocol::RuleSource::command_line);
    fixture.add(rule(Effect::deny, ActionKind::host), Scope::always);
    const std::filesystem::path file = fixture.policy / "user.json";
    CHECK(fixture.ask(tool("{}"))->allowed()); // control
    SUBCASE("a link") {
        std::filesystem::rename(file, fixture.base / "elsewhere.json");
        std::filesystem::create_symlink(fixture.base / "elsewhere.json", file);
    }
    SUBCASE("a pipe") {
        std::filesystem::remove(file);
        REQUIRE(::mkfifo(file.c_str(), 0600) == 0);
    }
    SUBCASE("a folder") {
        std::filesystem::remove(file);
        std::filesystem::create_directory(file);
    }
    SUBCASE("a folder around it that others may write") {
        ::chmod(fixture.policy.c_str(), 0777);
        replace(file, read_text(file));
    }
    CHECK(fixture.ask(tool("{}"))->denied());
    ::chmod(fixture.policy.c_str(), 0700);
}

TEST_CASE("while stored rules cannot be read, an approval waits, cannot be allowed, and can be denied") {
    Fixture fixture;
    fixture.add(rule(Effect::deny, ActionKind::host), Scope::workspace);
    const std::filesystem::path file = workspace_file(fixture);
    const std::string good = read_text(file);
    const auto first = fixture.ask(tool(R"({"n":1})"));
    const auto second = fixture.ask(tool(R"({"n":2})"));
    replace(file, "?");
    CHECK(error_of([&] { fixture.answer(fixture.user.requested[0].approval_id, Verdict::allow); }) ==
          ErrorCode::policy_unreadable);
    CHECK(first->waits());
    fixture.answer(fixture.user.requested[1].approval_id, Verdict::deny);
    CHECK(second->denied());
    replace(file, good);
    fixture.answer(fixture.user.requested[0].approval_id, Verdict::allow);
    CHECK(first->allowed());
}

TEST_CASE("a rule that another process stored counts at once, also for what waits, and is not lost by our writing") {
    Fixture fixture;
    const auto call = fixture.ask(tool("{}"));
    {
        gate::GateOptions options;
        options.root = fixture.root.string();
        options.policy_directory = fixture.policy.string();
        options.run_blocking = fixture.worker.run_blocking();
        gate::Gate other(fixture.clock, options);
        protocol::PolicyAddParams params;
        params.rule = rule(Effect::deny, ActionKind::tool, "files", "read_file");
        params.scope = Scope::always;
        fixture.now(other.policy_add(params));
    }
    CHECK(error_of([&] { fixture.allow(); }) == ErrorCode::approval_resolved);
    CHECK(call->denied());
    fixture.add(rule(Effect::allow, ActionKind::tool, "web"), Scope::always);
    CHECK(fixture.gate->policy_list().rules.size() == 2);
    CHECK(fixture.ask(tool("{}"))->denied());
}

TEST_CASE("rules that many processes store at once are all kept") {
    Fixture fixture;
    std::vector<pid_t> children;
    constexpr int each = 50;
    int start[2] = {-1, -1}; // its end lets all of them begin together
    REQUIRE(::pipe(start) == 0);
    for (int child = 0; child < 4; ++child) {
        const pid_t pid = ::fork();
        if (pid == 0) {
            ::close(start[1]);
            char byte = 0;
            if (::read(start[0], &byte, 1) != 0) {
                ::_exit(1);
            }
            try {
                for (int i = 0; i < each; ++i) {
                    fixture.add(rule(Effect::allow, ActionKind::tool, "s" + std::to_string(child * each + i)),
                                Scope::always);
                }
                ::_exit(0);
            } catch (...) {
                ::_exit(1);
            }
        }
        children.push_back(pid);
    }
    ::close(start[0]);
    ::close(start[1]);
    for (const pid_t pid : children) {
        int status = -1;
        ::waitpid(pid, &status, 0);
        CHECK(status == 0);
    }
    CHECK(fixture.gate->policy_list().rules.size() == 4 * each);
}

TEST_CASE("an answer that cannot be stored answers nothing") {
    Fixture fixture;
    const auto call = fixture.ask(tool("{}"));
    write_text(fixture.policy, "a file in the way");
    CHECK(error_of([&] { fixture.allow(Scope::workspace); }) == ErrorCode::store_failed);
    CHECK(call->waits());
    CHECK(fixture.user.resolved.empty());
    std::filesystem::remove(fixture.policy);
    fixture.allow(Scope::workspace);
    CHECK(call->allowed());
}

TEST_CASE("rules that have expired are dropped when the file is next written") {
    Fixture fixture;
    RuleSpec spec = rule(Effect::allow);
    spec.expires_at = "2026-01-01T01:00:10Z";
    fixture.add(spec, Scope::workspace);
    fixture.clock.advance(std::chrono::seconds(11));
    fixture.add(rule(Effect::deny), Scope::workspace);
    CHECK(Json::parse(read_text(workspace_file(fixture)))["rules"].size() == 1);
}
