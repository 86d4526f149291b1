#include "data/mnist.h"

#include <sys/stat.h>

#include "io/idx.h"
#include "tensor/core/error.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/view.h"

namespace weft::data {

namespace {

std::string find(const std::string& folder, const std::string& name) {
  struct stat status = {};
  for (const char* ending : {"", ".gz"}) {
    std::string path = folder + "/" + name + ending;
    if (::stat(path.c_str(), &status) == 0) return path;
  }
  throw IoError(text("mnist: neither ", name, " nor ", name, ".gz is in ", folder));
}

}  // namespace

TensorDataset<2> mnist(const std::string& folder, Split split) {
  const std::string prefix = split == Split::train ? "train" : "t10k";
  const std::string image_path = find(folder, prefix + "-images-idx3-ubyte");
  const std::string label_path = find(folder, prefix + "-labels-idx1-ubyte");
  const Tensor images = io::load_idx(image_path), labels = io::load_idx(label_path);
  if (images.dtype() != DType::u8 || images.rank() != 3)
    throw IoError(text("mnist: ", image_path, " holds ", describe(images), ", not bytes of (count, height, width)"));
  if (labels.dtype() != DType::u8 || labels.rank() != 1 || labels.size(0) != images.size(0))
    throw IoError(text("mnist: ", label_path, " holds ", describe(labels), ", not ", images.size(0), " bytes"));
  for (const uint8_t label : std::span(labels.data<uint8_t>(), static_cast<size_t>(labels.numel())))
    if (label > 9) throw IoError(text("mnist: ", label_path, " holds the label ", int{label}));
  return TensorDataset(images.unsqueeze(1).to(f32) / 255.0, labels.to(i64));
}

}  // namespace weft::data
