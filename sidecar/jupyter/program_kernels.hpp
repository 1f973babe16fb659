#pragma once
// `deno_kernels` and `bash_kernel` are the kernels that need no kernelspec: Deno, which is one itself, and cellgate's
// own kernel for bash, a Python program that keeps one bash (kernel/bash_kernel.py).

#include "jupyter/kernel_choice.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cellgate::jupyter {

// Where a kernel finds the path of its connection file in its arguments.
inline constexpr std::string_view connection_file_mark = "{connection_file}";

// Nothing when `path` is no Deno.
std::optional<KernelChoice> deno_at(const std::filesystem::path& path, const KernelRequest& request);

// Of each Deno: the workspace's own (npm's `node_modules/.bin`), then those on PATH.
std::vector<KernelChoice> deno_kernels(const KernelRequest& request);

// Nothing without bash. `interpreter`: a Python with ipykernel that is not the workspace's.
std::optional<KernelChoice> bash_kernel(const KernelRequest& request, Interpreter interpreter);

// Sets what is known of a program, whatever its kernelspec contains.
void apply_known_program(KernelChoice& choice);

} // namespace cellgate::jupyter
