#include "gate/question_lines.hpp"

namespace cellgate::gate {

std::vector<std::string> question_lines(const protocol::Approval& approval) {
    std::vector<std::string> lines = approval.display;
    if (approval.definition_changes) {
        lines.emplace_back("its definition has changed since it was last allowed:");
        lines.insert(lines.end(), approval.definition_changes->begin(), approval.definition_changes->end());
    }
    return lines;
}

} // namespace cellgate::gate
