#pragma once
// `MaskedOutput` is the output of an execution without known secrets. Of a stream's text it holds back what may begin
// one, until the next text of that stream, until other output comes, or until flush().

#include "base/known_secrets.hpp"
#include "jupyter/output.hpp"

#include <optional>
#include <string>
#include <vector>

namespace cellgate::session {

class MaskedOutput {
  public:
    // What is shown now, in order.
    std::vector<jupyter::Output> pass(const std::shared_ptr<const SecretMask>& mask, jupyter::Output output);
    // What was held back, if anything.
    std::optional<jupyter::Output> flush();
    bool holds() const { return stream_ && stream_->text.held_bytes() > 0; }

  private:
    struct Stream {
        std::string others; // the members of its outputs but for the text: `"output_type":"stream","name":"stdout",`
        MaskedStream text;
    };

    std::optional<Stream> stream_; // of which the last output was
};

} // namespace cellgate::session
