#pragma once
// `TemporaryFolder` is a folder that is removed with its test; `ConnectionPair` has both ends of a conversation in
// memory.

#include "base/memory_stream.hpp"
#include "protocol/connection.hpp"
#include "store/directories.hpp"

#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>

namespace service_fixture {

using namespace cellgate;

struct TemporaryFolder {
    std::string path = store::make_unique_directory(std::filesystem::canonical("/tmp"), "service-");
    ~TemporaryFolder() { store::remove_tree(path); }
};

inline std::string read_text(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

struct ConnectionPair {
    ConnectionPair() {
        auto [one, other] = memory_stream_pair();
        ours = std::make_shared<protocol::FramedConnection>(std::move(one), protocol::Framing::content_length);
        theirs = std::make_shared<protocol::FramedConnection>(std::move(other), protocol::Framing::content_length);
    }
    std::shared_ptr<protocol::Connection> ours;
    std::shared_ptr<protocol::Connection> theirs;
};

} // namespace service_fixture
