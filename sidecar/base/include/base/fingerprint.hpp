#pragma once
// `Fingerprint` is the hash of a sequence of texts. Each part is preceded by its length, so different sequences never
// give the same input to the hash.

#include "base/hash.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace cellgate {

class Fingerprint {
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
