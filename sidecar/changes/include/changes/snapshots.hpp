#pragma once
// `Snapshots` is the states of a workspace's files: it keeps them, tells what changed between two, and restores it. The
// contents are kept by `git` in a repository of cellgate's own; the workspace's .git is neither read nor written, and
// nothing that a file of the workspace says makes git run a program. All functions block, and the caller makes one call
// at a time; several processes may use one directory, and wait for each other. Errors are Error{store_failed}, also
// where there is no git, and Error{invalid_params} for an id that is none.
//
// Covered are regular files and symbolic links: content or target, and all twelve bits of the mode. Not covered are
// what .gitignore files name, repositories inside the workspace, files beyond a limit or that cannot be read, and names
// that are not UTF-8. Sockets, pipes and devices count as absent, and so do empty folders. What is not covered in one
// of two snapshots is no change between them, so no undo touches it.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cellgate::changes {

struct Options {
    std::string directory; // cellgate's own, outside the workspace; made when it is needed
    std::string workspace; // absolute, resolved
    std::uint64_t max_file_bytes = 10ULL << 20U;
    std::uint64_t max_total_bytes = 1ULL << 30U; // of all covered files, and of the store
    std::size_t max_files = 100'000;             // also of ignored entries; an ignored folder is one
    std::vector<std::string> excluded = {};      // folders, relative to the workspace; not covered
};

struct NotCovered {
    std::string path; // relative; empty: the workspace; what is not UTF-8 is escaped
    std::string why;
};

struct Snapshot {
    std::string id;       // hexadecimal; the same state has the same one. Empty: nothing is covered
    bool complete = true; // nothing is left out but what is ignored or excluded, which is never looked at
    std::vector<NotCovered> not_covered; // the first 100
    std::size_t not_covered_count = 0;
    bool store_is_full = false; // nothing is covered because of that
};

struct FileState {
    std::string sha256; // of the content, or of a link's target
    std::uint64_t bytes = 0;
    std::uint32_t mode = 0; // with its type: S_IFREG or S_IFLNK
};

// Created: no `before`. Deleted: no `after`. A rename is both.
struct Change {
    std::string path;
    std::optional<FileState> before;
    std::optional<FileState> after;
};

struct ChangeList {
    std::vector<Change> changes;     // sorted by path, as bytes
    bool complete = true;            // false: one of the snapshots left something out, or covers less than the other
    std::vector<NotCovered> unknown; // the first 100 that only one of the two covers: ignored since, …
};

struct UndoResult {
    std::vector<NotCovered> refused; // not empty: nothing was changed, because of these
    std::vector<std::string> restored;
};

class Snapshots {
  public:
    explicit Snapshots(Options options);
    Snapshots(const Snapshots&) = delete;
    Snapshots& operator=(const Snapshots&) = delete;
    ~Snapshots();

    // The state now. A file that changes meanwhile is kept as it was at some time during the call.
    Snapshot take();

    ChangeList compare(const std::string& before, const std::string& after) const;

    // The content of a file, or a link's target; nothing if the snapshot has no file of that path. Throws
    // Error{limit_exceeded} if it has more than `limit` bytes.
    std::optional<std::string> read(const std::string& id, const std::string& path, std::size_t limit) const;

    // Restores what differs between the two, of `paths` if given, to `before`. First every such file has to be as in
    // `after`: otherwise nothing is changed. Follows no link, and replaces files, so that other names of them keep
    // their content. Files appear and disappear whole. If an operation fails on the way, what was done is reverted, and
    // Error{store_failed} thrown.
    UndoResult undo(const std::string& before, const std::string& after,
                    const std::optional<std::vector<std::string>>& paths = std::nullopt);

    // Completes an undo whose process has ended. Call it before anything else. `refused` are the files that are neither
    // as before nor as after the changes: they were left as they are. Nothing if no undo was interrupted.
    std::optional<UndoResult> recover();

    // Forgets all snapshots but these, as far as they exist, and the last one. Space is freed by every sixteenth call
    // and the first, of snapshots that are an hour old, which no other process still compares; `at_once`: all of it
    // now.
    void keep(const std::vector<std::string>& ids, bool at_once = false);

  private:
    struct State;
    std::unique_ptr<State> state_;
};

} // namespace cellgate::changes
