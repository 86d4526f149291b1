// Checkpoints: what a training run needs to carry on bit for bit, in one crash-safe file (a safetensors file, so that
// other tools can read its tensors).
//
//   std::map<std::string, std::string> fields = {{"epoch", std::to_string(epoch)}};
//   io::save_checkpoint(path, {.model = &model, .optimizer = &optimizer, .schedule = &schedule, .loader = &loader,
//                              .fields = &fields});
//
// Of generators it holds the process's. One of the program's own (a module's, a loader's) is the program's to save:
// put the two numbers of its state() into `fields`, and give them back to set_state(). Gradients are not in it: where
// several batches make a step, save right behind the step (Accumulate::waiting() is 0 there).
#pragma once

#include <map>
#include <string>

#include "io/resumable.h"
#include "nn/module/module.h"
#include "optim/average.h"
#include "optim/grad_scaler.h"
#include "optim/optimizer.h"
#include "optim/schedule.h"

namespace weft::io {

/// What a checkpoint holds; what is null is left out. `loader` is any data::DataLoader, in the middle of an epoch too.
/// `fields` are the user's own texts.
struct CheckpointParts {
  nn::Module* model = nullptr;
  optim::Optimizer* optimizer = nullptr;
  optim::Schedule* schedule = nullptr;
  optim::Average* average = nullptr;  // Ema or Swa
  optim::GradScaler* scaler = nullptr;
  Resumable* loader = nullptr;
  std::map<std::string, std::string>* fields = nullptr;
  bool random = true;  // the state of the global generator
};

/// Writes `path` so that a crash at any moment leaves the old file or the new one. IoError, naming the path, where that
/// fails.
void save_checkpoint(const std::string& path, const CheckpointParts& parts);

/// Restores the given parts: all, or none of them where anything does not fit. Parts of the file that are not asked for
/// are ignored. IoError, naming the path, where the file is damaged (its checksum is compared), holds no such part, or
/// holds one of another model, dtype, optimizer or dataset.
void load_checkpoint(const std::string& path, const CheckpointParts& parts);

}  // namespace weft::io
