#pragma once
// `value_checks` are checks of the values of options: each says what was expected and what was found. A value that none
// of them takes ends the program with 2.

#include <CLI/CLI.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace cellgate::cli {

CLI::Validator existing_file();
CLI::Validator existing_folder();
CLI::Validator existing_path();
// Of names without commas.
CLI::Validator one_of(std::vector<std::string> names);
// The names that one_of() lets the option take; empty for any other option.
std::vector<std::string> names_taken_by(const CLI::Option& option);
// Of an entry of the record.
CLI::Validator entry_type();
std::string entry_types();
// As base/names.hpp has it.
CLI::Validator variable_name();
CLI::Validator http_url();
CLI::Validator whole_number(std::int64_t least, std::int64_t most = INT64_MAX);
CLI::Validator positive_number();
CLI::Validator number_of_seconds();
// Turns "4G", "512 MiB" or "4096" into bytes, of `least` MiB at least; units are powers of 1024.
CLI::Validator size_in_bytes(std::uint64_t least);

} // namespace cellgate::cli
