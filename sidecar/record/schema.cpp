#include "schema.hpp"

#include "base/error.hpp"

#include <fmt/format.h>

namespace cellgate::record {

int require_format(Database& database) {
    const auto version = static_cast<int>(database.integer("PRAGMA user_version").value_or(0));
    if (version != 0 && version != schema_version) {
        throw Error(ErrorCode::store_failed,
                    fmt::format("{} has the format {}, expected {}", database.path(), version, schema_version),
                    version > schema_version ? "use the newer cellgate that made it"
                                             : "move its folder away to begin a new record");
    }
    return version;
}

} // namespace cellgate::record
