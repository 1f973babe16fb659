#pragma once
// `FailedPathFinder` collects the paths in what a failed execution left to read (session/failures.hpp).

#include "session/failures.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

namespace cellgate::session {

class FailedPathFinder {
  public:
    static constexpr std::size_t max_line_bytes = 10'000; // two paths of the system's longest
    static constexpr std::size_t max_inspected_bytes = std::size_t{64} << 10;

    // Each line of the text's beginning, unless it is very long.
    template <class Take>
    static void for_lines(std::string_view text, const Take& take) {
        text = text.substr(0, max_inspected_bytes);
        while (!text.empty()) {
            const std::size_t end = std::min(text.find('\n'), text.size());
            if (end <= max_line_bytes) {
                take(text.substr(0, end));
            }
            text.remove_prefix(std::min(end + 1, text.size()));
        }
    }

    // What is between two quotes, from the first one on.
    template <class Take>
    static void for_quoted(std::string_view text, const Take& take) {
        while (true) {
            const std::size_t begin = text.find_first_of("'\"");
            if (begin == std::string_view::npos) {
                return;
            }
            const std::size_t end = text.find(text[begin], begin + 1);
            if (end == std::string_view::npos) {
                return;
            }
            take(text.substr(begin + 1, end - begin - 1));
            text.remove_prefix(end + 1);
        }
    }

    // An absolute path alone, or any.
    void add(std::string_view path, int error);
    void add_absolute(std::string_view path, int error);
    // "cat: /data/x: No such file or directory", "ls: cannot access '/data/x': Permission denied".
    void read_complaint(std::string_view line);

    std::vector<FailedPath> take() { return std::move(found_); }

  private:
    std::vector<FailedPath> found_;
};

} // namespace cellgate::session
