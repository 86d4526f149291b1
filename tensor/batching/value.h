// Value: the content of a sample's storage. It holds a batch tensor instead of bytes.
#pragma once

#include "tensor/batching/level.h"
#include "tensor/ops/copy.h"
#include "tensor/ops/view.h"

namespace weft::batching {

class Value {
 public:
  explicit Value(size_t bytes) : bytes_(bytes) {}

  /// Sets the batch tensor. The samples in `batch`, addressed by `view`, are the elements of this memory.
  void set(uint64_t level, const Batch& batch, const View& view);
  bool empty() const { return !whole_.x.defined(); }
  /// Whether an unrecorded write would now discard a history of the batch tensor.
  bool loses_history() const;
  /// Makes reading while recording an error until the whole memory has been overwritten.
  void set_history_lost() { history_lost_ = true; }
  bool history_lost() const { return history_lost_; }
  /// Marks the batch tensor as an argument of vmap: its memory gets what the function writes, at the end.
  void set_given() { given_ = true; }
  /// Called before an op in place that is recorded. Its gradient may read the old values, which must not be in an
  /// argument's memory then.
  void keep_old_values();
  /// Whether the batch tensor requires a gradient, at any depth of nesting.
  bool needs_gradient() const;
  uint64_t level() const { return level_; }
  /// How many elements of this dtype fill this memory.
  int64_t elements(DType dtype) const { return static_cast<int64_t>(bytes_ / size_of(dtype)); }
  /// The batch tensor for another view of this memory. GradientError if the batch tensor was written in place since.
  Batch through(const View& view);
  /// Replaces the part that `view` describes.
  void write(const View& view, const Batch& part, int64_t size);
  /// Adds to the part that `view` describes; the view may overlap itself.
  void add(const View& view, const Batch& part, int64_t size);

 private:
  /// The elements in memory order: (batch, elements), or (elements) if not batched.
  Tensor flat();
  void check_unwritten() const;
  void check_history() const;
  /// The view op that takes the part described by `view` from flat(). If batched, the batch axis comes first.
  op::AsStrided part_of_flat(const View& view, bool batched, int64_t size) const;
  void set_flat(const Tensor& flat, bool batched);
  /// The place of a part in the flat elements, and the values for it.
  struct FlatPart {
    op::AsStrided place;
    Tensor values;
    bool batched;
  };
  /// The part that `view` describes, batched if this value or `part` is. Also converts this value to its flat form.
  FlatPart flat_part(const View& view, const Batch& part, int64_t size);
  bool is_sole_owner(const Tensor& values) const;
  /// write(place), without history.
  template <class Write> void write_in_place(const FlatPart& part, const Write& write);

  size_t bytes_;
  uint64_t level_ = 0;
  Batch whole_;
  View view_;             // the view of this memory that whole_ represents
  uint64_t version_ = 0;  // the version of whole_'s storage when it was set
  bool history_lost_ = false;
  bool given_ = false;
  Tensor flat_;
};

}  // namespace weft::batching
