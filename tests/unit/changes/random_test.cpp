// Random changes in a workspace with ignored, large, nested and oddly named files, against the tests' own scan of it:
// the list of changes is exact, and undo restores what is covered and touches nothing else. CELLGATE_CHANGES_ROUNDS
// says how many rounds there are.

#include "workspace_fixture.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <random>
#include <thread>

using namespace cellgate;
using namespace cellgate::changes;

namespace {

constexpr std::uintmax_t max_bytes = 500;
constexpr std::array names = {"a", "b c", "d", "\xc3\xbc", "line\nend", "x.tmp", "ignored", "e", "\"q\"", "f"};
constexpr std::array modes = {0644U, 0755U, 0600U, 0664U, 04755U, 0666U};

class RandomWorkspace : public WorkspaceFixture {
  public:
    explicit RandomWorkspace(unsigned seed) : random_(seed) {
        write(at(".gitignore"), "*.tmp\nignored/\n");
        write(at("nested/file"), "x");
        run(at("nested"), "git init");
        for (int i = 0; i < 30; ++i) {
            step();
        }
    }

    unsigned below(unsigned bound) { return static_cast<unsigned>(random_() % bound); }

    void step() {
        std::error_code ignored; // what is not possible now is another change less
        const fs::path path = any_path();
        switch (below(10)) {
        case 0:
        case 1:
        case 2:
            put(path, false);
            break;
        case 3:
            put(path, true);
            break;
        case 4:
            fs::rename(path, any_path(), ignored);
            break;
        case 5:
            fs::remove_all(path, ignored);
            break;
        case 6:
            if (fs::is_regular_file(fs::symlink_status(path, ignored))) {
                fs::permissions(path, fs::perms(modes[below(modes.size())]), ignored);
            }
            break;
        case 7:
            fs::create_symlink(any_path(), path, ignored);
            break;
        case 8:
            fs::create_hard_link(any_path(), path, ignored);
            break;
        default: // a file becomes a folder, and back
            fs::remove_all(path, ignored);
            put(below(2) == 0 ? path : path / names[below(names.size())], false);
        }
        write(at("nested/file"), std::to_string(random_()));
    }

  private:
    fs::path any_path() {
        fs::path path = workspace / names[below(names.size())];
        for (unsigned depth = below(3); depth > 0; --depth) {
            path /= names[below(names.size())];
        }
        return path;
    }

    // Through no link: what it would change is not known.
    void put(const fs::path& path, bool append) {
        std::error_code error;
        for (fs::path part = path; part != workspace; part = part.parent_path()) {
            if (fs::is_symlink(fs::symlink_status(part, error))) {
                return;
            }
        }
        fs::create_directories(path.parent_path(), error);
        std::ofstream file(path, append ? std::ios::app : std::ios::trunc);
        file << std::string(below(8) == 0 ? max_bytes + below(9) : below(40), static_cast<char>('a' + below(26)));
    }

    std::mt19937 random_;
};

bool is_ignored(const fs::path& path) {
    const fs::path parent = path.parent_path();
    return std::ranges::find(parent, "ignored") != parent.end() || *path.begin() == "nested" ||
           std::ranges::any_of(path, [](const fs::path& part) { return part.extension() == ".tmp"; });
}

// What is covered, what is too large, and all else.
struct Parts {
    TreeText covered;
    TreeText large;
    TreeText rest;
};

Parts parts_of(const fs::path& workspace) {
    Parts parts;
    for (const auto& [path, state] : scan_tree(workspace)) {
        const fs::path whole = workspace / path;
        if (path.ends_with('/') || path.starts_with("busy/")) {
            continue;
        }
        const bool too_large = !fs::is_symlink(whole) && fs::file_size(whole) > max_bytes;
        (is_ignored(path) ? parts.rest : too_large ? parts.large : parts.covered)[path] = state;
    }
    return parts;
}

std::string text_of(const std::optional<FileState>& state) {
    return state ? std::to_string(state->mode) + " " + state->sha256 : "";
}

// {path: "BEFORE > AFTER"}
TreeText expected_changes(Parts before, Parts after) {
    TreeText paths = before.covered;
    paths.insert(after.covered.begin(), after.covered.end());
    TreeText changes;
    for (const auto& [path, _] : paths) {
        const bool known = !before.large.contains(path) && !after.large.contains(path);
        if (known && before.covered[path] != after.covered[path]) {
            changes[path] = before.covered[path] + " > " + after.covered[path];
        }
    }
    return changes;
}

// The first entry that only the first has.
std::string only_in(const TreeText& first, const TreeText& second) {
    for (const auto& [path, state] : first) {
        const auto found = second.find(path);
        if (found == second.end() || found->second != state) {
            return path + ": " + state;
        }
    }
    return "";
}

// Changes files of its own all the time.
class OtherWriter {
  public:
    explicit OtherWriter(const fs::path& folder)
        : thread_([this, folder] {
              for (int i = 0; !stopped_; ++i) {
                  const fs::path file = folder / std::to_string(i % 7);
                  i % 3 == 0 ? (void)fs::remove(file)
                             : write(file, std::string(static_cast<std::size_t>(i % 400), 'x'));
              }
          }) {}
    OtherWriter(const OtherWriter&) = delete;
    OtherWriter& operator=(const OtherWriter&) = delete;
    ~OtherWriter() {
        stopped_ = true;
        thread_.join();
    }

  private:
    std::atomic<bool> stopped_ = false;
    std::thread thread_;
};

// Whether it was undone; not, if a folder with what is not covered is where a file was.
bool play_round(RandomWorkspace& fixture, Snapshots& snapshots) {
    const std::string before = snapshots.take().id;
    const Parts files_before = parts_of(fixture.workspace);
    for (unsigned steps = 1 + fixture.below(8); steps > 0; --steps) {
        fixture.step();
    }
    const std::string after = snapshots.take().id;
    const Parts files_after = parts_of(fixture.workspace);
    TreeText changes;
    std::vector<std::string> paths;
    for (const Change& change : snapshots.compare(before, after).changes) {
        if (!change.path.starts_with("busy/")) {
            changes[change.path] = text_of(change.before) + " > " + text_of(change.after);
            paths.push_back(change.path);
        }
    }
    const TreeText expected = expected_changes(files_before, files_after);
    CHECK(only_in(changes, expected) == "");
    CHECK(only_in(expected, changes) == "");
    if (fixture.below(4) == 0) {
        return true; // the next round goes on from here
    }
    const UndoResult result = snapshots.undo(before, after, paths);
    const Parts files_now = parts_of(fixture.workspace);
    CHECK(files_now.large == files_after.large);
    CHECK(files_now.rest == files_after.rest);
    if (!result.refused.empty()) {
        CHECK(files_now.covered == files_after.covered);
        return false;
    }
    CHECK(expected_changes(files_before, files_now).empty());
    return true;
}

int rounds() {
    const char* given = ::getenv("CELLGATE_CHANGES_ROUNDS");
    return given ? std::stoi(given) : 20;
}

void play(bool with_other_writer) {
    RandomWorkspace fixture(with_other_writer ? 2 : 1);
    std::optional<OtherWriter> other;
    if (with_other_writer) {
        other.emplace(fixture.at("busy"));
    }
    Options options = fixture.options();
    options.max_file_bytes = max_bytes;
    Snapshots snapshots(options);
    int undone = 0;
    for (int round = 0; round < rounds(); ++round) {
        CAPTURE(round);
        undone += play_round(fixture, snapshots) ? 1 : 0;
    }
    CHECK(undone * 10 >= rounds() * 7);
}

} // namespace

TEST_CASE("random changes are listed exactly, and undone") {
    play(false);
}

TEST_CASE("random changes are listed exactly, and undone, while another program changes other files") {
    play(true);
}
