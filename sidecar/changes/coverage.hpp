#pragma once
// `Coverage` is what a snapshot leaves out. It is kept with the snapshot, as JSON: a path that another snapshot has is
// then known to be created or deleted, or to have been there and not looked at. `CoverageIndex` finds paths in it.

#include <string>
#include <string_view>
#include <vector>

namespace cellgate::changes {

struct LeftOut {
    std::string path; // a folder ends in a slash; a name that is not UTF-8 is escaped
    std::string why;
    bool operator==(const LeftOut&) const = default;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("path", self.path);
        visit("why", self.why);
    }
};

struct Coverage {
    std::vector<std::string> ignored;      // files, and folders, which end in a slash; excluded ones too
    std::vector<std::string> bare_folders; // without a covered file below; each ends in a slash
    std::vector<LeftOut> left_out;
    bool operator==(const Coverage&) const = default;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("ignored", self.ignored);
        visit("bareFolders", self.bare_folders);
        visit("leftOut", self.left_out);
    }
};

// Answers for many paths whether a coverage leaves them out.
class CoverageIndex {
  public:
    explicit CoverageIndex(const Coverage& coverage);

    // Why the path or a folder that it is in is left out; empty if it is covered.
    std::string_view why_left_out(std::string_view path) const;

  private:
    struct Entry {
        std::string path;
        std::string why;
    };
    const Entry* find(std::string_view path) const;

    std::vector<Entry> entries_; // sorted
};

} // namespace cellgate::changes
