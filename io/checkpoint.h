// Checkpoints: everything that a training run needs to resume with bit-identical results, in one file that is written
// atomically. It is a safetensors file, so other tools can read its tensors.
//
//   std::map<std::string, std::string> fields = {{"epoch", std::to_string(epoch)}};
//   io::save_checkpoint(path, {.model = &model, .optimizer = &optimizer, .schedule = &schedule, .loader = &loader,
//                              .fields = &fields});
//
// The default generator's state is included. The program must save other generators (of a module or a loader) itself:
// store the two numbers of their state() in `fields`, and pass them to set_state() after loading. Gradients are
// included only as part of an Accumulate; of a distributed::DataParallel under no_sync(), each process has others, so
// save directly after a step there.
#pragma once

#include <map>
#include <string>

#include "io/resumable.h"
#include "nn/module/module.h"
#include "optim/accumulate.h"
#include "optim/average.h"
#include "optim/grad_scaler.h"
#include "optim/optimizer.h"
#include "optim/schedule.h"

namespace weft::io {

/// The objects to save or load; null ones are left out. `loader` is any data::DataLoader, which may be in the middle of
/// an epoch. `fields` are arbitrary texts of the program.
struct CheckpointParts {
  nn::Module* model = nullptr;
  optim::Optimizer* optimizer = nullptr;
  optim::Schedule* schedule = nullptr;
  optim::Average* average = nullptr;  // Ema or Swa
  optim::GradScaler* scaler = nullptr;
  optim::Accumulate* accumulate = nullptr;  // its gradients and the number of batches
  Resumable* loader = nullptr;
  std::map<std::string, std::string>* fields = nullptr;
  bool random = true;  // the state of the default generator
};

/// Writes `path` atomically: after a crash at any moment, the file is either the old or the new one. IoError, with the
/// path, if writing fails, and if `average` is applied, when the model's own weights are not in the model.
void save_checkpoint(const std::string& path, const CheckpointParts& parts);

/// Restores the given objects: all of them, or none if anything does not fit. Contents of the file that are not
/// requested are ignored. IoError, with the path, if the file is damaged (its checksum is verified), lacks a requested
/// part, or belongs to another model, optimizer or dataset, to a model of another dtype or an average of a wider one,
/// and if `average` is applied. The state of an optimizer is cast to what the optimizer keeps.
void load_checkpoint(const std::string& path, const CheckpointParts& parts);

}  // namespace weft::io
