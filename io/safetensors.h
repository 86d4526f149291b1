// safetensors: tensors by name in one file, the format models are exchanged in.
// https://github.com/huggingface/safetensors The reader trusts nothing: every number is checked before it is used, and
// no allocation is larger than the file.
#pragma once

#include <map>
#include <string>

#include "tensor/state_dict.h"

namespace weft::io {

/// Texts that travel in the header (`__metadata__`).
using Metadata = std::map<std::string, std::string>;

/// Writes tensors of any layout and of all of weft's dtypes, row-major, in the format's own order (widest dtype first,
/// then by name), crash-safe (see AtomicFile). Errors: IoError that names the path, for an undefined tensor, a name
/// that is not UTF-8 or is `__metadata__`, and what the system refuses.
void save_safetensors(const std::string& path, const StateDict& tensors, const Metadata& metadata = {});

/// Reads a file; `metadata`, where given, receives the header's texts. IoError, naming the path and what is wrong, for
/// anything that is not exactly a safetensors file: no check is left to luck, and nothing but IoError is thrown.
StateDict load_safetensors(const std::string& path, Metadata* metadata = nullptr);

}  // namespace weft::io
