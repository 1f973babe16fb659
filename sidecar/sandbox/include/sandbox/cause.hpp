#pragma once
// `Cause` is the reason why a sandbox shows a path as it does, for explanations and notes.

namespace cellgate::sandbox {

// Who decided that something is in the sandbox as it is.
enum class Cause {
    baseline, // every sandbox has it so
    guard,    // cellgate protects the file by itself
    user,     // the settings file, or what a user added
    machine,  // it is so outside too: files' permissions, or that there is none
};

} // namespace cellgate::sandbox
