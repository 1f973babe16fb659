#pragma once
// `KnownSecrets` is the values that nothing that is shown or kept may have, with the mask that finds them. It keeps
// what was shown by accident from being shown; code that means to show a value finds a spelling that no mask has.

#include "base/raw_json.hpp"
#include "base/secret_mask.hpp"

#include <memory>
#include <string>
#include <vector>

namespace cellgate {

class KnownSecrets {
  public:
    void add(const std::string& name, const std::string& value);
    // nullptr while there is nothing to look for.
    const std::shared_ptr<const SecretMask>& mask() const { return mask_; }

  private:
    std::vector<MaskedValue> values_;
    std::shared_ptr<const SecretMask> mask_;
};

// `mask` may be nullptr.
std::string masked_text(const std::shared_ptr<const SecretMask>& mask, std::string text);
// The same JSON, with the mask over the content of each string. Numbers stay.
RawJson masked_json(const std::shared_ptr<const SecretMask>& mask, RawJson json);

} // namespace cellgate
