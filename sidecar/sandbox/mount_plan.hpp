#pragma once
// What a sandbox's file system is made of: one entry for each place, in any order; the arguments for bwrap come out
// with parents before children, so that nothing covers what was put below it. The last entry for a place wins.

#include "sandbox/descriptor.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace cellgate::sandbox {

class MountPlan {
  public:
    void read_only(const std::string& source, const std::string& place);
    void read_only(const std::string& path) { read_only(path, path); }
    void read_write(const std::string& source, const std::string& place);
    void read_write(const std::string& path) { read_write(path, path); }
    void scratch(const std::string& place, std::uint64_t bytes, const char* permissions);
    void symlink(const std::string& target, const std::string& place);
    void file(std::string content, const std::string& place);
    // A copy of the program that `descriptor` is open at.
    void program(int descriptor, const std::string& place);
    void unreadable_file(const std::string& place);
    void unreadable_directory(const std::string& place);
    void proc();
    void devices();

    // Makes each folder between `top` and a place below it a mount of its own, as writable as before: a mount cannot be
    // renamed or removed, so what lies below cannot be moved away and replaced by renaming a folder above it.
    void pin_folders(const std::string& top);

    // Whether the files of `path` are those of the machine, shown through one of the mounts.
    bool shows(const std::string& path) const;

    struct Bind {
        std::string source;
        std::string place;
    };
    // Those of `top` and below it, without what lies in something unreadable.
    std::vector<Bind> binds_within(const std::string& top) const;

    // All that is mounted below `top`.
    std::vector<std::filesystem::path> places_below(const std::string& top) const;

    // `first_descriptor` is the number under which bwrap finds the first of `files`.
    struct Arguments {
        std::vector<std::string> arguments;
        std::vector<Descriptor> files;
    };
    Arguments arguments(int first_descriptor) const;

  private:
    struct Entry {
        std::vector<std::string> arguments; // the place comes last and is added
        bool from_machine = false;
        bool writable = false;                         // and the machine's
        std::function<Descriptor()> content = nullptr; // of a file that bwrap reads from a descriptor
        bool sealed = false;                           // made read-only once all is mounted
    };
    const Entry* nearest(const std::string& path) const; // at `path` or above it

    std::map<std::filesystem::path, Entry> entries_; // paths compare by component: parents come first
};

} // namespace cellgate::sandbox
