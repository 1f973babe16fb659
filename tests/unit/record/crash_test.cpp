// A sidecar that is killed while it appends, and a verifier that shares no code with it.

#include "base/files.hpp"
#include "base/json_scan.hpp"
#include "record_testing.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <csignal>
#include <fstream>
#include <random>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

using namespace cellgate;
using namespace cellgate::record;

namespace {

// Reads the numbers that the tool prints, kills it after so many, and returns the last one that it printed whole.
std::int64_t append_and_kill(const RecordFolder& folder, int lines, const char* mode = "append",
                             std::int64_t first = 0) {
    Pipe pipe = make_pipe();
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        ::dup2(pipe.write.get(), STDOUT_FILENO);
        ::execl(RECORD_TOOL, "record_tool", mode, folder.path.c_str(), std::to_string(first).c_str(), nullptr);
        ::_exit(127);
    }
    pipe.write.reset();
    FILE* output = ::fdopen(pipe.read.release(), "r");
    long long last = -1;
    for (int line = 0; std::fscanf(output, "%lld\n", &last) == 1; ++line) {
        if (line == lines) {
            ::kill(child, SIGKILL);
        }
    }
    std::fclose(output);
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(WIFSIGNALED(status));
    return last;
}

// What the script prints, and how it ended.
std::string run_verifier(const RecordFolder& folder, const std::string& arguments = {}) {
    const std::string command =
        fmt::format("/usr/bin/python3 -B {} {} {} 2>&1", RECORD_VERIFIER, folder.path, arguments);
    FILE* output = ::popen(command.c_str(), "r");
    std::string text(4096, '\0');
    text.resize(std::fread(text.data(), 1, text.size(), output));
    const int status = ::pclose(output);
    return fmt::format("{}{}", WEXITSTATUS(status), text.empty() ? "" : " " + text);
}

} // namespace

TEST_CASE("a sidecar that is killed loses nothing that it reported") {
    RecordFolder folder;
    std::mt19937 random(1); // always the same
    std::int64_t reported = -1;
    for (int round = 0; round < 50; ++round) {
        const std::int64_t last = append_and_kill(folder, static_cast<int>(random() % 200));
        CAPTURE(round);
        REQUIRE(last > reported); // it went on where it was killed, and not before
        reported = last;
        const std::string kept = file_text(folder.path + ".checkpoints"); // empty until there is a first one
        const VerifyResult result = folder.reader().verify(kept.empty() ? std::nullopt : std::optional(kept));
        CAPTURE(result.problem);
        REQUIRE(result.ok);
        REQUIRE(result.entries > reported);
    }
    std::int64_t next = folder.reader().verify(std::nullopt).removed;
    CHECK(next > 0);
    folder.reader().each(0, [&](const StoredEntry& entry) {
        CHECK(entry.seq == next);
        ++next;
        return true;
    });
    CHECK(next > reported);
    CHECK(run_verifier(folder, folder.path + ".checkpoints").starts_with("0 ok: "));
}

TEST_CASE("what was only in a file when its sidecar was killed is in the record of the next one, once and in order") {
    RecordFolder folder;
    std::mt19937 random(2); // always the same
    std::int64_t next = 0;  // n of the next entry
    for (int round = 0; round < 30; ++round) {
        const std::int64_t last = append_and_kill(folder, static_cast<int>(random() % 200), "log", next);
        CAPTURE(round);
        REQUIRE(last >= next);
        {
            Record record(folder.options());
            record.append(numbered_entry(round), Durability::synced);
            result_of(record.close());
        }
        std::vector<std::int64_t> found;
        for (const std::string& entry : all_entries(folder.reader())) {
            const std::string_view data = json_member(entry, "data");
            const std::string n(json_member(data, "n"));
            if (!json_member(data, "arguments").empty() && std::stoll(n) >= next) { // the tool's
                found.push_back(std::stoll(n));
            }
        }
        // The one after the last may have been written and not printed.
        REQUIRE(static_cast<std::int64_t>(found.size()) >= last - next + 1);
        REQUIRE(static_cast<std::int64_t>(found.size()) <= last - next + 2);
        for (std::size_t i = 0; i < found.size(); ++i) {
            REQUIRE(found[i] == next + static_cast<std::int64_t>(i));
        }
        next = found.back() + 1;
    }
    const VerifyResult result = folder.reader().verify(folder.kept());
    CAPTURE(result.problem);
    CHECK(result.ok);
    for (const auto& each : std::filesystem::directory_iterator(folder.path)) {
        CHECK_FALSE(each.path().filename().string().starts_with("pending-"));
    }
}

TEST_CASE("a verifier made from the format's description alone agrees") {
    RecordFolder folder;
    fill(folder, 600);
    const std::string copy = folder.copy;
    CHECK(run_verifier(folder, copy) == "0 ok: 600 entries, 0 removed\n");
    {
        Record record(folder.options());
        Pruning pruning{first_time, first_time + std::chrono::minutes(300), std::nullopt};
        CHECK(result_of(record.prune(pruning)) == 256);
        NewEntry entry = numbered_entry(601);
        entry.data = RawJson::parse(R"({"\u20ac":1e21,"\ud83d\ude00":-0.0000001,"\ufb33":[1.50,"\u0001\n\u007f"]})");
        record.append(entry, Durability::written);
        result_of(record.close());
    }
    CHECK(run_verifier(folder, copy) == "0 ok: 602 entries, 256 removed\n");
    const std::vector<std::pair<std::string, std::string>> attacks = {
        {"UPDATE entries SET json = replace(json, 'number 300', 'number 301') WHERE seq = 300",
         "entry 300 was changed"},
        {"DELETE FROM entries WHERE seq >= 400 AND seq < 410", "entries 400 to 409 are missing"},
        {"DELETE FROM entries WHERE seq < 512", "entries 256 to 511 are missing"},
        {"DELETE FROM entries WHERE seq > 590;DELETE FROM checkpoints WHERE size > 590",
         "the record ends at 591; the checkpoint names 602"},
        {"UPDATE checkpoints SET text = replace(text, '602', '601') WHERE size = 602",
         "the checkpoint of 602 entries was changed, or is not signed with the key of record.pub"},
        {"UPDATE entries SET type = 'x' WHERE seq = 300", "entry 300 was changed"},
        {"UPDATE blocks SET last_time = first_time",
         "the database is damaged: the times of entries 256 to 511 are not those of their block"},
    };
    const std::string path = folder.path + "/record.sqlite";
    const std::string whole = file_text(path);
    for (const auto& [sql, problem] : attacks) {
        folder.open().run(sql);
        CHECK(folder.reader().verify(file_text(copy)).problem == problem);
        CHECK(run_verifier(folder, copy) == "1 " + problem + "\n");
        std::ofstream(path, std::ios::binary) << whole;
    }
}
