#pragma once
// `TouchConfirmer` has a user confirm an answer by a touch of a security key: OpenSSH's ssh-keygen signs it with the
// user's key, and what it says is not believed but checked. The key is that of CELLGATE_TOUCH_KEY, else
// ~/.ssh/id_ed25519_sk, else ~/.ssh/id_ecdsa_sk. ssh-keygen, which is none of the workspace's, runs as the
// user, outside every sandbox, for two minutes at most.

#include "async/loop.hpp"
#include "async/process.hpp"
#include "base/environment.hpp"
#include "gate/gate.hpp"

#include <string>
#include <vector>

namespace cellgate::service {

class TouchConfirmer final : public gate::Confirmer {
  public:
    // `directory`: private, for files that last as long as a confirmation.
    TouchConfirmer(async::Loop& loop, std::string directory, std::string workspace, Environment environment)
        : loop_(loop), directory_(std::move(directory)), workspace_(std::move(workspace)),
          environment_(std::move(environment)) {}

    Task<protocol::Confirmation> confirm(std::string text) override;

  private:
    struct Key {
        std::string program;    // ssh-keygen
        std::string file;       // which it takes
        std::string public_key; // out of base64
        std::string type;
    };
    struct Ran {
        bool success = false;
        std::string out;
        std::string error; // its last line
    };
    Key find_key() const;
    Task<protocol::Confirmation> confirm_in(std::string folder, std::string text);
    // ssh-keygen, with `input` at its stdin.
    Task<Ran> run(std::vector<std::string> argv, std::string folder, std::string input) const;

    async::Loop& loop_;
    std::string directory_;
    std::string workspace_;
    Environment environment_;
};

} // namespace cellgate::service
