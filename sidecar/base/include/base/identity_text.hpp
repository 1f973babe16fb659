#pragma once
// What something is, as one text that is hashed: with its length before each part, so that the end of one and the
// beginning of the next cannot stand for other parts.

#include "base/hash.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace cellgate {

class IdentityText {
  public:
    void add(std::string_view part) {
        text_ += std::to_string(part.size());
        text_ += ':';
        text_ += part;
        text_ += ',';
    }
    void add_all(const std::vector<std::string>& parts) {
        add(std::to_string(parts.size()));
        for (const std::string& part : parts) {
            add(part);
        }
    }
    std::string hash() const { return sha256(text_); }

  private:
    std::string text_;
};

} // namespace cellgate
