#include "base/line_diff.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>

namespace cellgate {

namespace {

using DiffText = std::vector<std::string>;

constexpr std::size_t max_compared_lines = 2000; // on each side
constexpr int max_differences = 1000;            // removed and added lines

// How far into `before` a number of differences leads on each diagonal (position in `before` minus position in
// `after`).
class Reach {
  public:
    explicit Reach(int differences) : differences_(differences), ends_(2 * static_cast<std::size_t>(differences) + 1) {}
    int& at(int diagonal) { return ends_[place(diagonal)]; }
    int at(int diagonal) const { return ends_[place(diagonal)]; }

  private:
    std::size_t place(int diagonal) const {
        const int index = diagonal + differences_;
        return static_cast<std::size_t>(index);
    }

    int differences_;
    std::vector<int> ends_;
};

// Whether the furthest way to `diagonal` with one more difference than in `before` adds a line; else it removes one.
bool comes_by_adding(const Reach& before, int differences, int diagonal) {
    return diagonal == -differences || (diagonal != differences && before.at(diagonal - 1) < before.at(diagonal + 1));
}

// For each number of differences, up to the least that is enough. Nothing when that is more than max_differences.
std::optional<std::vector<Reach>> reaches(const DiffText& before, const DiffText& after) {
    const int before_size = static_cast<int>(before.size());
    const int after_size = static_cast<int>(after.size());
    std::vector<Reach> all;
    for (int differences = 0; differences <= max_differences; ++differences) {
        Reach reach(differences);
        for (int diagonal = -differences; diagonal <= differences; diagonal += 2) {
            int x = 0;
            if (differences > 0) {
                const Reach& last = all.back();
                x = comes_by_adding(last, differences, diagonal) ? last.at(diagonal + 1) : last.at(diagonal - 1) + 1;
            }
            while (x < before_size && x - diagonal < after_size &&
                   before[static_cast<std::size_t>(x)] == after[static_cast<std::size_t>(x - diagonal)]) {
                ++x;
            }
            reach.at(diagonal) = x;
            if (x >= before_size && x - diagonal >= after_size) {
                all.push_back(std::move(reach));
                return all;
            }
        }
        all.push_back(std::move(reach));
    }
    return std::nullopt;
}

void put_removed_first(std::vector<DiffLine>& lines) {
    const auto is_same = [](const DiffLine& line) { return line.sign == ' '; };
    const auto is_added = [](const DiffLine& line) { return line.sign == '+'; };
    for (auto begin = lines.begin(); begin != lines.end();) {
        begin = std::find_if_not(begin, lines.end(), is_same);
        const auto end = std::find_if(begin, lines.end(), is_same);
        std::vector<DiffLine> added;
        std::copy_if(begin, end, std::back_inserter(added), is_added);
        std::copy(added.begin(), added.end(), std::remove_if(begin, end, is_added));
        begin = end;
    }
}

} // namespace

std::vector<DiffLine> line_diff(const DiffText& before, const DiffText& after) {
    std::vector<DiffLine> lines;
    std::optional<std::vector<Reach>> all;
    if (before.size() <= max_compared_lines && after.size() <= max_compared_lines) {
        all = reaches(before, after);
    }
    if (!all) {
        for (const std::string& line : before) {
            lines.push_back({'-', line});
        }
        for (const std::string& line : after) {
            lines.push_back({'+', line});
        }
        return lines;
    }
    std::size_t x = before.size();
    std::size_t y = after.size();
    const auto go_back_to = [&](std::size_t start) {
        for (; x > start; --x, --y) {
            lines.push_back({' ', before[x - 1]});
        }
    };
    for (int differences = static_cast<int>(all->size()) - 1; differences > 0; --differences) {
        const Reach& last = (*all)[static_cast<std::size_t>(differences) - 1];
        const int diagonal = static_cast<int>(x) - static_cast<int>(y);
        const bool adds = comes_by_adding(last, differences, diagonal);
        const int start = adds ? last.at(diagonal + 1) : last.at(diagonal - 1) + 1;
        go_back_to(static_cast<std::size_t>(start));
        lines.push_back(adds ? DiffLine{'+', after[--y]} : DiffLine{'-', before[--x]});
    }
    go_back_to(0);
    std::reverse(lines.begin(), lines.end());
    put_removed_first(lines);
    return lines;
}

std::vector<DiffLine> near_changes(const std::vector<DiffLine>& all, std::size_t context) {
    std::vector<bool> is_near(all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (all[i].sign != ' ') {
            const std::size_t end = std::min(i + context + 1, all.size());
            for (std::size_t near = i - std::min(i, context); near < end; ++near) {
                is_near[near] = true;
            }
        }
    }
    std::vector<DiffLine> lines;
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (is_near[i]) {
            if (i > 0 && !is_near[i - 1] && !lines.empty()) {
                lines.push_back({' ', "…"});
            }
            lines.push_back(all[i]);
        }
    }
    return lines;
}

} // namespace cellgate
