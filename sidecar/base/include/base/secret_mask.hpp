#pragma once
// `SecretMask` is values that a stream must not show, in the spellings that programs give them: as they are, in base64
// (either alphabet, at any place of a longer text), percent-encoded, escaped in JSON, and in hexadecimal.
// `MaskedStream` replaces each by `[secret NAME]`. A spelling that is split over chunks is found; what may begin one is
// held back, and nothing else. Time is linear in the bytes. Values below 8 bytes are not looked for: too much would
// look like them.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cellgate {

inline constexpr std::size_t min_masked_bytes = 8;

struct MaskedValue {
    std::string name;
    std::string value;
};

// The texts in which `value` is looked for.
std::vector<std::string> secret_spellings(std::string_view value);

// The automaton of Aho and Corasick over all spellings.
class SecretMask {
  public:
    explicit SecretMask(const std::vector<MaskedValue>& values);

    bool empty() const { return nodes_.size() == 1; }

  private:
    friend class MaskedStream;

    struct Node {
        std::vector<std::pair<char, std::uint32_t>> next;
        std::uint32_t fallback = 0; // the longest proper suffix that begins a spelling
        std::uint32_t depth = 0;
        // The longest spelling that ends here, if one does.
        std::uint32_t found = 0; // its bytes; 0: none
        std::uint32_t name = 0;
    };

    void add(std::string_view spelling, std::uint32_t name);
    void link();
    std::optional<std::uint32_t> child(std::uint32_t node, char c) const;
    std::uint32_t step(std::uint32_t node, char c) const;

    std::vector<Node> nodes_;
    std::array<std::uint32_t, 256> first_{}; // of the root; 0: none
    std::vector<std::string> names_;
};

class MaskedStream {
  public:
    explicit MaskedStream(std::shared_ptr<const SecretMask> mask) : mask_(std::move(mask)) {}

    // What of the stream can be shown after this chunk.
    std::string push(std::string chunk);
    // What was held back, at the stream's end. Then a new stream may begin.
    std::string finish();
    std::size_t held_bytes() const { return held_.size(); }

  private:
    // Bytes of `held_` that spellings cover; those that overlap are one region.
    struct Region {
        std::size_t begin;
        std::size_t end;
        std::string names;
    };

    void take(const SecretMask::Node& node);
    // From `open` on, a spelling may have begun. What comes before leaves `held_`.
    std::string shown_before(std::size_t open);

    std::shared_ptr<const SecretMask> mask_;
    std::uint32_t state_ = 0;
    std::string held_;
    std::size_t seen_ = 0;        // of `held_`
    std::vector<Region> regions_; // in order
};

} // namespace cellgate
