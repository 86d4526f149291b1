// safetensors: named tensors in one file, a common exchange format for models.
// https://github.com/huggingface/safetensors The reader does not trust the file: every number is checked before use,
// and no allocation is larger than the file.
#pragma once

#include <map>
#include <string>

#include "tensor/state_dict.h"

namespace weft::io {

/// Texts stored in the header (`__metadata__`).
using Metadata = std::map<std::string, std::string>;

/// Writes tensors of any memory layout and any dtype of weft, row-major, in the format's order (widest dtype first,
/// then by name). A file of this name is replaced at once when the data is complete. IoError, with the path, for an
/// undefined tensor, for a name that is not UTF-8 or is `__metadata__`, and for errors of the system.
void save_safetensors(const std::string& path, const StateDict& tensors, const Metadata& metadata = {});

/// Reads a file. If `metadata` is not null, it receives the header's texts. IoError, with the path and the reason, for
/// anything that is not exactly a valid safetensors file, and MemoryError where there is no room for it; no other
/// exception is thrown.
StateDict load_safetensors(const std::string& path, Metadata* metadata = nullptr);

/// The same without reading the data: the tensors are on the file's pages, which the system loads at their first use
/// and drops again where it needs memory. Writes to the tensors do not reach the file. Replacing the file (as all save
/// functions do) is safe meanwhile; if it is written in place, the tensors may change, and if it becomes shorter, using
/// them ends the process (SIGBUS).
///   model.load_state_dict(io::map_safetensors(path), {.assign = true});  // no copy of the weights at all
StateDict map_safetensors(const std::string& path, Metadata* metadata = nullptr);

}  // namespace weft::io
