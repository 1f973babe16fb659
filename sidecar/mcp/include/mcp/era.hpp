#pragma once
// `Era` is how a client and a server speak: with a handshake (2024-11-05 to 2025-11-25), or with requests that describe
// themselves (2026-07-28).

namespace cellgate::mcp {

enum class Era { legacy, modern };

} // namespace cellgate::mcp
