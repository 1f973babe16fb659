#pragma once
// `Checkpoint` is a signed statement that a record of `size` entries has this root (C2SP tlog-checkpoint). Private to
// the module.

#include "record/merkle_tree.hpp"
#include "signing_key.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace cellgate::record {

struct Checkpoint {
    std::string origin;
    std::int64_t size = 0;
    Hash root{};
    std::string text; // all of it

    bool is_signed_by(const VerifierKey& key) const;
};

// Its origin is the key's name.
std::string signed_checkpoint(const SigningKey& key, std::int64_t size, const Hash& root);

// Those in `text`, which has one behind the other. What is none is skipped: a sidecar that was killed may have written
// the beginning of one.
std::vector<Checkpoint> parse_checkpoints(std::string_view text);

} // namespace cellgate::record
